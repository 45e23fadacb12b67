// Writes of an owner, refused once another node owns the user (decision 33).
import type { UserKey } from '@trunkline/core/domain/ids'
import { type Partition, partitionOf } from '@trunkline/core/domain/partition'
import { StoreUnavailable } from '@trunkline/core/ports/store'
import { CompiledQuery, type Kysely } from 'kysely'
import type { Database } from '../database.ts'

/** The fence of the user's partition while this node owns it, else null. */
export type FenceOf = (userKey: UserKey) => number | null

/** Another node owns a user, or is about to. Nothing was written. */
export class FenceLost extends StoreUnavailable {
  constructor() {
    super('The user is being moved to another node of the service; try again.')
  }
}

/** Partitions and the fences under which they are written for, in the same order. */
export interface Fences {
  readonly partitions: Partition[]
  readonly fences: number[]
}

/** The fences of these users' partitions. @throws FenceLost */
export function fencesOf(users: Iterable<UserKey>, fenceOf: FenceOf): Fences {
  const found = new Map<Partition, number>()
  for (const userKey of users) {
    const fence = fenceOf(userKey)
    if (fence === null) throw new FenceLost()
    found.set(partitionOf(userKey), fence)
  }
  return { partitions: [...found.keys()], fences: [...found.values()] }
}

const CONDITION = 'select bool_and(holds_fence(p, f)) as held from unnest($1::int[], $2::bigint[]) as owned (p, f)'

/**
 * The statement, which calls a function, with the condition that the fences still hold; otherwise it does nothing and gives no row. The
 * partitions and their fences are its last two parameters. The condition is judged first, and holds until the statement is committed.
 */
export function fenced(statement: string, parameters: number): string {
  const condition = CONDITION.replace('$2', `$${parameters + 2}`).replace('$1', `$${parameters + 1}`)
  return `${statement} from (${condition}) owned where held`
}

/** Stands in a statement for the condition; see {@link fencedWrite}. */
export const OWNED = '/* owned */ true'

/**
 * The same for a statement that writes by itself, where {@link OWNED} stands among its conditions. It gives a row if the fences hold,
 * whatever it has written.
 */
export function fencedWrite(statement: string, parameters: number): string {
  const condition = fenced('select true as held', parameters)
  const written = statement.replace(OWNED, 'exists (select from holding)')
  return `/* writes */ with holding as materialized (${condition}), written as (${written}) select held from holding`
}

/**
 * Whether the fences still hold; if so, they hold until the transaction ends. They are compared without the owner: after a release the
 * fence stays until the next claim, and nobody can have written under another one before that.
 */
export async function holdsFences(trx: Kysely<Database>, { partitions, fences }: Fences): Promise<boolean> {
  const { rows } = await trx.executeQuery(CompiledQuery.raw(CONDITION, [partitions, fences]) as CompiledQuery<{ held: boolean | null }>)
  return rows[0]?.held === true
}
