import type { Command, MembersView, Node } from './messages.ts'

/** A connection to PostgreSQL. After any failure it is closed, and another is made. */
export interface LeaseConnection {
  query<Row extends object>(text: string, values: readonly unknown[]): Promise<readonly Row[]>
  close(): void
}

/** `onChanged` is called when the database announces a change of members or partitions. */
export type Connect = (onChanged: () => void) => Promise<LeaseConnection>

const MILLISECONDS = `interval '1 millisecond'`
const JOIN = `select join_members($1, $2, $3, $4 * ${MILLISECONDS})`
const RENEW = `select renew_lease($1, $2 * ${MILLISECONDS}) as renewed, read_members() as view,
  (extract(epoch from clock_timestamp()) * 1000)::float8 as wall_ms`
const COMMANDS = {
  claim: 'select claim_partitions($1, $2, $3, $4)',
  release: 'select release_partitions($1, $2)',
  drain: 'select drain_member($1)',
  leave: 'select leave_members($1)'
} as const satisfies Record<Command['kind'], string>

/** A node's part of the tables `members` and `partitions`, on a connection of its own. */
export class LeaseDatabase {
  readonly #node: Node
  readonly #leaseMs: number
  readonly #connect: Connect
  #connection: LeaseConnection | null = null
  #isClosed = false
  onChanged: () => void = () => undefined

  constructor(node: Node, leaseMs: number, connect: Connect) {
    this.#node = node
    this.#leaseMs = leaseMs
    this.#connect = connect
  }

  async join(): Promise<void> {
    const { nodeId, url, name } = this.#node
    await this.#query(JOIN, [nodeId, url, name, this.#leaseMs])
  }

  /** Renews the lease and reads all members, partitions and the wall clock, in one round trip. Null: it had ended. */
  async renew(): Promise<{ readonly view: MembersView; readonly wallMs: number } | null> {
    const [row] = await this.#query<{ renewed: boolean; view: MembersView; wall_ms: number }>(RENEW, [this.#node.nodeId, this.#leaseMs])
    return row?.renewed === true ? { view: row.view, wallMs: row.wall_ms } : null
  }

  async execute(command: Command): Promise<void> {
    await this.#query(COMMANDS[command.kind], [this.#node.nodeId, ...argumentsOf(command)])
  }

  close(): void {
    this.#isClosed = true
    this.#drop()
  }

  async #query<Row extends object>(text: string, values: readonly unknown[]): Promise<readonly Row[]> {
    try {
      this.#connection ??= await this.#connected()
      return await this.#connection.query<Row>(text, values)
    } catch (cause) {
      this.#drop()
      throw cause
    }
  }

  async #connected(): Promise<LeaseConnection> {
    const connection = await this.#connect(() => this.onChanged())
    if (!this.#isClosed) return connection
    connection.close()
    throw new Error('closed while it was connecting')
  }

  #drop(): void {
    this.#connection?.close()
    this.#connection = null
  }
}

function argumentsOf(command: Command): readonly unknown[] {
  switch (command.kind) {
    case 'claim':
      return [command.partitions, command.silent.map(({ nodeId }) => nodeId), command.silent.map(({ renewals }) => renewals)]
    case 'release':
      return [command.partitions]
    default:
      return []
  }
}
