import { Client } from 'pg'
import type { Connect } from './lease-database.ts'

export interface ConnectOptions {
  readonly url: string
  /** Of the session, as `pg_stat_activity` shows it. */
  readonly name: string
  /** For connecting, and for each answer. */
  readonly answerMsMax: number
}

/** The length of a session's name in PostgreSQL. */
const NAME_MAX = 63

/** Connections of the driver. They receive what is announced on the channel of the members. */
export function connectTo({ url, name, answerMsMax }: ConnectOptions): Connect {
  return async onChanged => {
    const client = new Client({
      connectionString: url,
      application_name: name.slice(0, NAME_MAX),
      keepAlive: true,
      connectionTimeoutMillis: answerMsMax,
      statement_timeout: answerMsMax,
      query_timeout: answerMsMax
    })
    // The query fails as well, and reports the loss to its caller; an idle connection is found lost by the next one.
    client.on('error', () => undefined)
    client.on('notification', onChanged)
    const close = () => void client.end().catch(() => undefined)
    try {
      await client.connect()
      await client.query('listen trunkline_members')
    } catch (cause) {
      close()
      throw cause
    }
    return {
      async query<Row extends object>(text: string, values: readonly unknown[]) {
        const { rows } = await client.query<Row>({ text, values: [...values] })
        return rows
      },
      close
    }
  }
}
