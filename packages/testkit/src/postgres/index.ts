// PostgreSQL for tests: a throw-away cluster, and a database for each test that wants one.
import { type PostgresServer, startPostgres } from './cluster.ts'

export { type PostgresServer, startPostgres } from './cluster.ts'
export { createDatabase, type TestDatabase } from './database.ts'
export { followPostgres, type PostgresReplica } from './replica.ts'
export { type DatabaseRoles, separateRoles } from './roles.ts'

/** Names the cluster that a whole test run shares: the URL of its superuser. */
export const SHARED_URL_VARIABLE = 'TRUNKLINE_TEST_DATABASE_URL'

/** The cluster of the test run, or an own one when a test file is run by itself. Stopping the shared one does nothing. */
export async function sharedPostgres(): Promise<PostgresServer> {
  const url = process.env[SHARED_URL_VARIABLE]
  if (url === undefined || url === '') return startPostgres()
  const stop = async () => {}
  return { url, stop, [Symbol.asyncDispose]: stop }
}
