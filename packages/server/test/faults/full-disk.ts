import type { Client } from 'pg'

const MESSAGE = 'could not extend file "base/16384/16397": No space left on device'
const DISK_FULL = '53100'

/** Has a PostgreSQL answer what writes as it does when its disk is full; nothing needs a disk that is, nor a privileged user. */
export class FullDisk {
  readonly #client: Client

  private constructor(client: Client) {
    this.#client = client
  }

  /** @param client the superuser's, on the database that is written to */
  static async of(client: Client): Promise<FullDisk> {
    const disk = new FullDisk(client)
    await disk.roomy()
    const { rows } = await client.query<{ name: string }>(
      `select format('%I', relname) as name from pg_class where relnamespace = 'public'::regnamespace and relkind in ('r', 'p') and not relispartition`
    )
    // Each by itself, so that no lock is waited for while another is held.
    for (const { name } of rows) {
      await client.query(
        `create or replace trigger full_at_statement before insert or update on ${name} execute function full_at_statement()`
      )
      await client.query(`drop trigger if exists full_at_commit on ${name}`)
      await client.query(
        `create constraint trigger full_at_commit after insert or update on ${name} deferrable initially deferred for each row execute function full_at_commit()`
      )
    }
    return disk
  }

  async full(at: 'statement' | 'commit'): Promise<void> {
    await this.#set(
      `full_at_${at}`,
      `raise exception using errcode = '${DISK_FULL}', message = '${MESSAGE}', hint = 'Check free disk space.';`
    )
  }

  async roomy(): Promise<void> {
    for (const name of ['full_at_statement', 'full_at_commit']) await this.#set(name, '')
  }

  async #set(name: string, body: string): Promise<void> {
    await this.#client.query(
      `create or replace function ${name}() returns trigger language plpgsql as $$ begin ${body} return null; end $$`
    )
  }
}
