import { Client } from 'pg'

/** Who owns whom, as the database has it. */
export interface Owners {
  /** The node of each user, by name. Null: none, or one that is dead. */
  readonly nodeOf: ReadonlyMap<string, string | null>
  /** Partitions by node. */
  readonly partitions: ReadonlyMap<string, number>
  /** Living nodes, by the process in their names. */
  readonly nodes: ReadonlyMap<number, string>
}

interface View {
  readonly members: readonly { readonly nodeId: string; readonly name: string; readonly leaseMs: number }[]
  readonly owners: readonly (string | null)[]
}

/** `trunkline <host> <process> …` */
const PROCESS = /^\S+ \S+ (\d+)/

export class ClusterTables implements AsyncDisposable {
  readonly #client: Client

  private constructor(client: Client) {
    this.#client = client
  }

  static async open(url: string): Promise<ClusterTables> {
    const client = new Client({ connectionString: url })
    await client.connect()
    return new ClusterTables(client)
  }

  async owners(): Promise<Owners> {
    const { rows } = await this.#client.query<{ view: View }>('select read_members() as view')
    const view = rows[0]?.view ?? { members: [], owners: [] }
    const living = view.members.filter(({ leaseMs }) => leaseMs > 0)
    const alive = new Set(living.map(({ nodeId }) => nodeId))
    const partitions = new Map<string, number>()
    for (const owner of view.owners) if (owner !== null && alive.has(owner)) partitions.set(owner, (partitions.get(owner) ?? 0) + 1)
    const users = await this.#client.query<{ user_id: string; user_key: string }>('select user_id, user_key from users')
    const ownerOf = (key: string) => view.owners[Number.parseInt(key.slice(-2), 16)] ?? null
    const nodeOf = new Map(
      users.rows.map(({ user_id: name, user_key: key }) => [name, alive.has(ownerOf(key) ?? '') ? ownerOf(key) : null])
    )
    const nodes = new Map(living.map(({ name, nodeId }) => [Number(PROCESS.exec(name)?.[1]), nodeId]))
    return { nodeOf, partitions, nodes }
  }

  async drain(nodeId: string): Promise<void> {
    await this.#client.query('select drain_member($1)', [nodeId])
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#client.end()
  }
}
