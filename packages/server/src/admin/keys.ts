import { ATTEMPT_MINUTES } from '@trunkline/core/app/connect/start-attempt'
import { epochMs, type Timestamp, timestampOfMs } from '@trunkline/core/domain/timestamp'
import { SealBroken, type Vault } from '@trunkline/core/ports/vault'
import { EnvelopeVault, sealedKeyId } from '../vault/envelope.ts'
import type { FileKeyRing } from '../vault/file-key-ring.ts'
import type { Keys } from '../vault/index.ts'
import { type AdminDeps, operatorEntry } from './deps.ts'
import { rewrapKeyCheck } from './key-check.ts'
import { AdminRefused, type KeysStatus, type RotateKeys, type Rotation, type Run } from './operations.ts'
import { rewrapAll, rewrapOnce } from './rewrap.ts'

/** A login in progress has a sealed PKCE verifier until its link expires. That verifier is not re-wrapped. */
const LOGIN_MINUTES_MAX = ATTEMPT_MINUTES + 5
const COUNTED_MAX = 10_000

export async function keysStatus({ store, keys }: AdminDeps): Promise<KeysStatus> {
  const { ring, file } = keys()
  const ids = ring.ids()
  // No key has an empty id, so this returns all credentials.
  const found = await store.connections.sealedUnderOtherKeys('', COUNTED_MAX + 1)
  const counts = new Map<string, number>()
  let damaged = 0
  const endpoints = await store.webhooks.endpoints.sealedUnderOtherKeys('', COUNTED_MAX + 1)
  const sealed = [...found.map(({ credentials }) => credentials), ...endpoints.map(({ keys: ofEndpoint }) => ofEndpoint)]
  for (const value of sealed.slice(0, COUNTED_MAX)) {
    const id = keyIdOf(value.sealed)
    if (id === null) damaged += 1
    else counts.set(id, (counts.get(id) ?? 0) + 1)
  }
  const missing = [...counts.keys()].filter(id => !ids.includes(id)).sort()
  return {
    source: file === null ? 'environment' : 'file',
    changedAt: file?.changedAt() ?? null,
    keys: [
      ...ids.map((id, index) => ({ id, state: index === 0 ? ('current' as const) : ('old' as const), sealed: counts.get(id) ?? 0 })),
      ...missing.map(id => ({ id, state: 'missing' as const, sealed: counts.get(id) ?? 0 }))
    ],
    damaged,
    complete: sealed.length <= COUNTED_MAX
  }
}

/**
 * Re-wraps all credentials with one current master key: a new one if the keys are in a file, else the first one of the environment.
 * If a call is interrupted, the next one finishes its work. @throws AdminRefused, KeyFileRefused
 */
export async function rotateKeys(deps: AdminDeps, { mode, retire }: RotateKeys, run: Run): Promise<Rotation> {
  const keys = deps.keys()
  if (keys.file === null && retire !== 'no')
    throw new AdminRefused(
      'The master keys come from TRUNKLINE_MASTER_KEYS. Re-wrap first (keys rotate), wait half an hour, then remove the old key from that setting on every node and restart it.'
    )
  const vault = new EnvelopeVault(keys.ring)
  const rewrapDeps = { connections: deps.store.connections, endpoints: deps.store.webhooks.endpoints, vault, clock: deps.clock }
  const left = mode === 'add' && keys.file !== null ? (await rewrapOnce(rewrapDeps, run)).rewrapped : 0
  const added = mode === 'add' && left === 0 && keys.file !== null
  if (added) await addKey(deps, keys.file, run)
  const done = await rewrapAll(rewrapDeps, run)
  await rewrapKeyCheck(deps.store.keyChecks, keys.ring)
  const rewrapped = left + done.rewrapped
  const detail = { rewrapped, unreadable: done.unreadable.length }
  await deps.store.audit.append(operatorEntry(deps.clock.now(), run, 'keys.rewrap', vault.currentKeyId, detail))
  for (const { place, id, why } of done.unreadable) deps.log.error('a stored credential cannot be opened', { place, id, why })
  const retirement = await retireOld(deps, keys, vault, retire, done.unreadable.length, run)
  return {
    source: keys.file === null ? 'environment' : 'file',
    keyId: vault.currentKeyId,
    added,
    resumed: left > 0,
    rewrapped,
    unreadable: done.unreadable,
    ...retirement
  }
}

/** Audited before the key is added, so that the log reveals any key that an operator did not add. */
async function addKey({ store, clock, log }: AdminDeps, file: FileKeyRing, run: Run): Promise<void> {
  await store.audit.append(operatorEntry(clock.now(), run, 'keys.rotate', file.current().id))
  const { id } = file.addKey()
  await store.audit.append(operatorEntry(clock.now(), run, 'keys.add', id))
  log.info('a new master key is current', { keyId: id })
}

async function retireOld(
  { store, clock, log }: AdminDeps,
  { ring, file }: Keys,
  vault: Vault,
  retire: RotateKeys['retire'],
  unreadable: number,
  run: Run
): Promise<Pick<Rotation, 'retired' | 'retireAfter'>> {
  const old = ring.ids().slice(1)
  if (file === null || old.length === 0) return { retired: [], retireAfter: null }
  const retireAfter = minutesAfter(file.changedAt(), LOGIN_MINUTES_MAX)
  if (retire === 'no' || (retire === 'when_safe' && clock.now() < retireAfter)) return { retired: [], retireAfter }
  if (unreadable > 0)
    throw new AdminRefused(
      `${unreadable} stored credentials cannot be opened, so the old keys stay: the credentials may need one of them. List the keys with: npm run cli -- keys status`
    )
  await store.audit.append(operatorEntry(clock.now(), run, 'keys.retire', old.join(' '), { current: vault.currentKeyId }))
  const retired = file.dropOthers(vault.currentKeyId)
  log.info('old master keys were removed', { keyIds: retired })
  return { retired, retireAfter: null }
}

function minutesAfter(at: Timestamp, minutes: number): Timestamp {
  return timestampOfMs(epochMs(at) + minutes * 60_000)
}

function keyIdOf(sealed: Uint8Array): string | null {
  try {
    return sealedKeyId(sealed)
  } catch (cause) {
    if (cause instanceof SealBroken) return null
    throw cause
  }
}
