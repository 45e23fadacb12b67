// PostgreSQL for tests: a temporary cluster, and databases for single tests.
import { type PostgresServer, startPostgres } from './cluster.ts'

export { type PostgresServer, startPostgres } from './cluster.ts'
export { createDatabase, type TestDatabase } from './database.ts'
export { followPostgres, type PostgresReplica } from './replica.ts'
export { type DatabaseRoles, separateRoles } from './roles.ts'

/** The variable that names the shared cluster of a test run: the URL of its superuser. */
export const SHARED_URL_VARIABLE = 'TRUNKLINE_TEST_DATABASE_URL'

/** The cluster of the test run, or a new one if a test file runs by itself. Stopping the shared one does nothing. */
export async function sharedPostgres(): Promise<PostgresServer> {
  const url = process.env[SHARED_URL_VARIABLE]
  if (url === undefined || url === '') return startPostgres()
  const stop = async () => {}
  return { url, stop, [Symbol.asyncDispose]: stop }
}
