// Two roles for one database: its owner, and the service's.
import { randomBytes } from 'node:crypto'
import { Client } from 'pg'

/** The database with its two roles. */
export interface DatabaseRoles {
  /** The URL of the role that owns the database and its objects. */
  readonly ownerUrl: string
  /** The URL of a role without grants. */
  readonly serviceUrl: string
  /** Removes the roles. The database must be gone. */
  drop(): Promise<void>
}

/** Creates the roles, and gives the database to the owner. `clusterUrl` is the superuser's. */
export async function separateRoles(clusterUrl: string, databaseUrl: string): Promise<DatabaseRoles> {
  const chance = randomBytes(6).toString('hex')
  const [owner, service] = [`owner_${chance}`, `service_${chance}`]
  const database = new URL(databaseUrl).pathname.slice(1)
  await run(
    clusterUrl,
    ...[owner, service].map(role => `create role ${role} login password '${chance}'`),
    `alter database ${database} owner to ${owner}`
  )
  return {
    ownerUrl: urlOf(databaseUrl, owner, chance),
    serviceUrl: urlOf(databaseUrl, service, chance),
    drop: () => run(clusterUrl, ...[owner, service].map(role => `drop role if exists ${role}`))
  }
}

function urlOf(databaseUrl: string, role: string, password: string): string {
  const url = new URL(databaseUrl)
  url.username = role
  url.password = password
  return url.href
}

async function run(url: string, ...statements: readonly string[]): Promise<void> {
  const client = new Client({ connectionString: url })
  await client.connect()
  try {
    for (const statement of statements) await client.query(statement)
  } finally {
    await client.end()
  }
}
