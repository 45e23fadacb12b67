// The value that the master keys of every node open.
import type { Session } from './session.ts'

export class SqlKeyCheckStore {
  readonly #session: Session

  constructor(session: Session) {
    this.#session = session
  }

  /** Null: no node has stored one. */
  async read(): Promise<Uint8Array | null> {
    const row = await this.#session.read(db => db.selectFrom('key_checks').select('sealed').where('id', '=', 1).executeTakeFirst())
    return row?.sealed ?? null
  }

  /** Stores the first one; another node may have been faster. */
  async add(sealed: Uint8Array): Promise<void> {
    await this.#session.write(trx =>
      trx
        .insertInto('key_checks')
        .values({ id: 1, sealed })
        .onConflict(conflict => conflict.doNothing())
        .execute()
    )
  }

  /** Replaces `before`, unless another node has. */
  async replace(before: Uint8Array, sealed: Uint8Array): Promise<void> {
    await this.#session.write(trx => trx.updateTable('key_checks').set({ sealed }).where('sealed', '=', Buffer.from(before)).execute())
  }
}
