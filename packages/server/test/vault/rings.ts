// Keys and clocks for the vault's tests.
import { createDecipheriv, randomBytes } from 'node:crypto'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { TestContext } from 'node:test'
import type { SealContext } from '@trunkline/core/ports/vault'
import { FixedKeyRing, type MasterKey } from '../../src/vault/master-keys.ts'

export const CONTEXT: SealContext = { table: 'connections', column: 'credentials', rowId: 'row-1', ownerId: 'user-1', revision: 7 }

export function key(id: string): MasterKey {
  return { id, key: randomBytes(32) }
}

export function ring(first: MasterKey, ...rest: readonly MasterKey[]): FixedKeyRing {
  return new FixedKeyRing({ keys: [first, ...rest], instance: null })
}

export function folder(context: TestContext): string {
  const path = mkdtempSync(join(tmpdir(), 'trunkline-vault-'))
  context.after(() => rmSync(path, { recursive: true, force: true }))
  return path
}

/** A clock that a test moves, and a log that it reads. */
export class Bench {
  ms = 0
  readonly warnings: string[] = []
  readonly clock = { monotonicMs: () => this.ms }
  readonly log = { info: () => {}, warn: (message: string) => void this.warnings.push(message) }
}

/** The wrap's iv, the content's iv and the data key, read as the documented layout says, without the code under test. */
export function randomParts(sealed: Uint8Array, master: Uint8Array): readonly [Uint8Array, Uint8Array, Uint8Array] {
  const start = 2 + (sealed[1] ?? 0)
  const [iv, tag, wrapped] = [
    sealed.subarray(start, start + 12),
    sealed.subarray(start + 12, start + 28),
    sealed.subarray(start + 28, start + 60)
  ]
  const id = Buffer.from(sealed.subarray(2, start)).toString()
  const aad = `${JSON.stringify([1, CONTEXT.table, CONTEXT.column, CONTEXT.rowId, CONTEXT.ownerId, CONTEXT.revision])}|${id}`
  const decipher = createDecipheriv('aes-256-gcm', master, iv, { authTagLength: 16 }).setAAD(Buffer.from(aad)).setAuthTag(tag)
  return [iv, sealed.subarray(start + 60, start + 72), Buffer.concat([decipher.update(wrapped), decipher.final()])]
}
