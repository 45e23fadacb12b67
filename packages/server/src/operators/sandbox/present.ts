// How answers of the sandbox become what operators see of it, where the two are not alike.
import type { Static } from 'typebox'
import { operatorName } from './crypto-name.ts'
import type * as records from './records.ts'
import type { SANDBOX } from './requests.ts'

type AnswerOf<Name extends keyof typeof SANDBOX> = Static<ReturnType<(typeof SANDBOX)[Name]>['answer']>

/** Most rows of a list. */
const ROWS_MAX = 1_000

export function presentClock({ clock }: AnswerOf<'clock'>): Static<typeof records.clockRecord> {
  const { sandbox_time, frozen, paused, market, share, coin, option, future } = clock
  return { sandbox_time, frozen, paused, prices: market, phases: { share, crypto: coin, option, future } }
}

export function presentFault(
  { id, ...fault }: AnswerOf<'addFault'>['fault'],
  left: number | null,
  hits: number
): Static<typeof records.faultRecord> {
  return { fault_id: id, ...fault, left, hits }
}

export function presentFaults({ items }: AnswerOf<'faults'>): Static<typeof records.faultList> {
  return listOf(items, fault => presentFault(fault, fault.left, fault.hits))
}

export function presentLogin({ login: { accounts, ...login } }: AnswerOf<'addLogin'>): Static<typeof records.loginRecord> {
  return { ...login, accounts: accounts.map(({ kind, ...account }) => ({ ...account, kind: operatorName(kind) })) }
}

export function presentLogins({ items }: AnswerOf<'logins'>): Static<typeof records.loginList> {
  return listOf(items, login => presentLogin({ login }))
}

export function presentStreams({ items }: AnswerOf<'streams'>): Static<typeof records.streamList> {
  return listOf(items, ({ on, dialect, login, waiting }) => ({
    ...{ on, broker: dialect ?? null, login_id: login ?? null },
    open: waiting?.length ?? null
  }))
}

function listOf<Item, Row>(items: readonly Item[], present: (item: Item) => Row) {
  const isWhole = items.length <= ROWS_MAX
  const why = `The sandbox has ${items.length}, and ${ROWS_MAX} are listed.`
  return { data: items.slice(0, ROWS_MAX).map(present), incomplete: isWhole ? null : why }
}
