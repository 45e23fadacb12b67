import assert from 'node:assert/strict'
import type { Store } from '@trunkline/core/ports/store'

type Sql = (text: string, parameters?: readonly unknown[]) => Promise<readonly Record<string, unknown>[]>

/** A store under test. */
export interface StoreHarness extends AsyncDisposable {
  readonly store: Store
  /** Another store on the same database, as on another node; the same one if a database has only one process. */
  readonly beside: Store
  /** Runs a statement on the store's database, past the store; null if there is no database. */
  readonly sql: Sql | null
}

export interface SqlHarness extends StoreHarness {
  readonly sql: Sql
}

/** Defines a case. All cases of a run share one store and create their own platforms and users. */
export interface DefineCase {
  (id: string, title: string, run: (harness: StoreHarness) => Promise<void>): void
  /** A case about the database itself, for stores that have one. */
  readonly sql: (id: string, title: string, run: (harness: SqlHarness) => Promise<void>) => void
}

/** Compares the rows of a statement if the store has a database. */
export async function assertRows(
  { sql }: StoreHarness,
  text: string,
  parameters: readonly unknown[],
  expected: readonly Record<string, unknown>[] = []
): Promise<void> {
  if (sql !== null) assert.deepEqual(await sql(text, parameters), expected, text)
}
