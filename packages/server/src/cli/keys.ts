import { resolve } from 'node:path'
import type { KeysStatus, Rotation } from '../admin/operations.ts'
import { keyFileIn } from '../vault/index.ts'
import { keysFromCommand } from '../vault/key-command.ts'
import { freshKey, readKeyFile } from '../vault/key-file.ts'
import { INSTANCE_ID, instanceKeyOf, parseKeySet } from '../vault/master-keys.ts'
import { aligned, CommandFailed, type Common, type Console, counted, outJson } from './console.ts'
import { perform, settingsFor } from './operator.ts'

const SHOWN_MAX = 20

export async function rotateKeys(
  console: Console,
  { retire = false, now = false, json }: Common & { readonly retire?: boolean; readonly now?: boolean }
): Promise<void> {
  if (now && !retire) throw new CommandFailed(2, '--now can only be used with --retire.')
  const done = await perform(console, 'keys.rotate', {
    mode: retire ? 'finish' : 'add',
    retire: now ? 'now' : retire ? 'when_safe' : 'no'
  })
  if (console.isTerminal) console.err('\r')
  if (json) outJson(console, done)
  else console.out(rotationSummary(done, retire))
  if (done.unreadable.length > 0) throw new CommandFailed(1, complaint(done))
}

export async function keysStatus(console: Console, { json }: Common): Promise<void> {
  const status = await perform(console, 'keys.status', {})
  if (json) outJson(console, status)
  else console.out(statusPage(status))
  const missing = status.keys.filter(({ state }) => state === 'missing')
  if (missing.length > 0)
    throw new CommandFailed(
      1,
      'Some credentials are sealed with a master key that is missing. Restore the key; otherwise their users have to connect again.'
    )
}

/** Prints a new master key, or the current instance key, as an item for TRUNKLINE_MASTER_KEYS. */
export function generateKey(console: Console, { instance = false }: { readonly instance?: boolean }): void {
  if (!instance) {
    const { id, key } = freshKey()
    console.out(itemOf(id, key))
    return
  }
  const { masterKeys, masterKeysCommand, dataDir } = settingsFor(console)
  const set =
    masterKeysCommand !== null
      ? keysFromCommand(masterKeysCommand)
      : masterKeys === null
        ? readKeyFile(keyFileIn(resolve(dataDir)))
        : parseKeySet(masterKeys)
  console.out(itemOf(INSTANCE_ID, instanceKeyOf(set)))
}

function itemOf(id: string, key: Uint8Array): string {
  return `${id}:${Buffer.from(key).toString('base64')}\n`
}

function rotationSummary(done: Rotation, retire: boolean): string {
  const first = done.added
    ? `Master key ${done.keyId} was added and is current.`
    : done.resumed
      ? `An earlier rotation to master key ${done.keyId} was incomplete. It is complete now, and no further key was added.`
      : `Master key ${done.keyId} is current.`
  const lines = [first, `Re-wrapped: ${counted(done.rewrapped, 'stored credential')}.`]
  if (done.retired.length > 0)
    lines.push(`Old keys removed: ${done.retired.join(', ')}. Older backups need them: keep a copy as long as you keep those backups.`)
  if (done.retireAfter !== null && retire)
    lines.push(
      `The old keys stay until ${done.retireAfter.slice(0, 19)}Z, because a login in progress may need them. Run this again after that.`
    )
  if (done.retireAfter !== null && !retire)
    lines.push(
      `The old keys still open what they sealed. Remove them after ${done.retireAfter.slice(0, 19)}Z with: npm run cli -- keys rotate --retire`
    )
  if (done.source === 'environment' && !retire)
    lines.push(
      'The keys come from TRUNKLINE_MASTER_KEYS. Once every node has the new key in first place, wait half an hour, then remove the old one.'
    )
  return `${lines.join('\n')}\n`
}

function complaint({ unreadable }: Rotation): string {
  const shown = unreadable.slice(0, SHOWN_MAX).map(({ place, id, why }) => `  ${place} ${id}: ${why}`)
  const more = unreadable.length > SHOWN_MAX ? [`  and ${unreadable.length - SHOWN_MAX} more`] : []
  return [`${counted(unreadable.length, 'stored credential')} cannot be opened and was not changed:`, ...shown, ...more].join('\n')
}

function statusPage({ source, changedAt, keys, damaged, complete }: KeysStatus): string {
  const where = source === 'file' ? `the key file, last changed ${changedAt?.slice(0, 19)}Z` : 'TRUNKLINE_MASTER_KEYS'
  const rows = keys.map(({ id, state, sealed }) => [id, state, `${complete ? '' : 'at least '}${sealed}`])
  const more = damaged > 0 ? `${counted(damaged, 'stored value')} is damaged.\n` : ''
  return `Master keys from ${where}.\n\n${aligned([['key', 'state', 'credentials'], ...rows])}${more}`
}
