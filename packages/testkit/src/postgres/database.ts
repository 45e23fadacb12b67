// Databases of one test each, on a shared cluster.
import { randomBytes } from 'node:crypto'
import { Client } from 'pg'

/** An empty database. `url` has the same user as the cluster's. */
export interface TestDatabase extends AsyncDisposable {
  readonly url: string
  /** Removes the database, and closes its open connections. */
  drop(): Promise<void>
}

/** Creates an empty database on the cluster at `clusterUrl`, in some tens of milliseconds. */
export async function createDatabase(clusterUrl: string): Promise<TestDatabase> {
  const name = `test_${randomBytes(8).toString('hex')}`
  await run(clusterUrl, `create database ${name}`)
  const url = new URL(clusterUrl)
  url.pathname = `/${name}`
  const drop = () => run(clusterUrl, `drop database if exists ${name} with (force)`)
  return { url: url.href, drop, [Symbol.asyncDispose]: drop }
}

async function run(url: string, statement: string): Promise<void> {
  const client = new Client({ connectionString: url })
  await client.connect()
  try {
    await client.query(statement)
  } finally {
    await client.end()
  }
}
