/** Administration: the operations for operators. Called through a private socket, or by the command line itself if no service runs. */
import type { AdminDeps } from './deps.ts'
import { keysStatus, rotateKeys } from './keys.ts'
import {
  AdminRefused,
  type AuditVerdict,
  type ChainHead,
  type ExportPage,
  type Input,
  type OperationName,
  type Output,
  type Run,
  type SealedLine
} from './operations.ts'
import { createOperatorKey, endOperatorSession, listOperatorKeys, listOperatorSessions, makeLink, revokeOperatorKey } from './operators.ts'
import { listAbandoned, listUnresolved, settleOrder, settleOrders } from './orders.ts'
import { createKey, listKeys, revokeKey, rotateSecret, setKeyDisabled } from './platform-keys.ts'
import { createPlatform, editPlatform, editRedirects, listPlatforms, setPlatformDisabled } from './platforms.ts'
import { setUserDisabled } from './users.ts'
import {
  createWebhook,
  listWebhookDeliveries,
  listWebhooks,
  replayWebhook,
  rotateWebhook,
  setWebhookEnabled,
  testWebhook
} from './webhooks.ts'

type Handler<Name extends OperationName> = (deps: AdminDeps, input: Input<Name>, run: Run) => Promise<Output<Name>>

const HANDLERS: { readonly [Name in OperationName]: Handler<Name> } = {
  'platform.create': createPlatform,
  'platform.edit': editPlatform,
  'platform.redirects': editRedirects,
  'platform.list': listPlatforms,
  'platform.rotate_secret': rotateSecret,
  'platform.disable': (deps, { platform }, run) => setPlatformDisabled(deps, platform, true, run),
  'platform.enable': (deps, { platform }, run) => setPlatformDisabled(deps, platform, false, run),
  'key.create': createKey,
  'key.list': listKeys,
  'key.disable': (deps, { key }, run) => setKeyDisabled(deps, key, true, run),
  'key.enable': (deps, { key }, run) => setKeyDisabled(deps, key, false, run),
  'key.revoke': revokeKey,
  'user.disable': (deps, user, run) => setUserDisabled(deps, user, true, run),
  'user.enable': (deps, user, run) => setUserDisabled(deps, user, false, run),
  'keys.status': keysStatus,
  'keys.rotate': rotateKeys,
  'orders.unresolved': listUnresolved,
  'orders.abandoned': listAbandoned,
  'orders.settle': settleOrder,
  'orders.settle_all': settleOrders,
  'operator.link': makeLink,
  'operator.sessions': listOperatorSessions,
  'operator.end_session': endOperatorSession,
  'operator.key_create': createOperatorKey,
  'operator.key_list': listOperatorKeys,
  'operator.key_revoke': revokeOperatorKey,
  'webhook.list': listWebhooks,
  'webhook.create': createWebhook,
  'webhook.enable': (deps, endpoint, run) => setWebhookEnabled(deps, endpoint, true, run),
  'webhook.disable': (deps, endpoint, run) => setWebhookEnabled(deps, endpoint, false, run),
  'webhook.rotate': rotateWebhook,
  'webhook.deliveries': listWebhookDeliveries,
  'webhook.replay': replayWebhook,
  'webhook.test': testWebhook,
  'audit.verify': verifyAudit,
  'audit.export': exportAudit,
  'audit.list': ({ store }, { limit }) => store.audit.list(limit)
}
const CHAIN_BATCH = 1_000

/** Performs operators' operations. Only one key rotation runs at a time. */
export class Admin {
  readonly #deps: AdminDeps
  #rotating = false

  constructor(deps: AdminDeps) {
    this.#deps = deps
  }

  /** @throws AdminRefused, KeyFileRefused, StoreUnavailable */
  async perform<Name extends OperationName>(name: Name, input: Input<Name>, run: Run): Promise<Output<Name>> {
    const handler: Handler<Name> = HANDLERS[name]
    if (name !== 'keys.rotate') return handler(this.#deps, input, run)
    if (this.#rotating) throw new AdminRefused('A key rotation is already running. See its progress with: npm run cli -- keys status')
    this.#rotating = true
    try {
      return await handler(this.#deps, input, run)
    } finally {
      this.#rotating = false
    }
  }
}

/** Chains pending entries before the first page, so that an export contains everything written before it began. */
async function exportAudit({ store }: AdminDeps, { after, limit }: ExportPage): Promise<readonly SealedLine[]> {
  if (after === 0) while ((await store.audit.seal(CHAIN_BATCH)) === CHAIN_BATCH);
  return store.audit.sealed(after, limit)
}

/** Chains pending entries first, so that the verdict covers all entries. */
async function verifyAudit({ store }: AdminDeps, { kept }: { readonly kept: ChainHead | null }): Promise<AuditVerdict> {
  while ((await store.audit.seal(CHAIN_BATCH)) === CHAIN_BATCH);
  return kept === null ? store.audit.verify() : store.audit.verify(kept)
}
