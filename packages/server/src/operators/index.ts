// The API for operators, under `/admin/v1`, with its own credentials and its own OpenAPI document.
import type { IncomingMessage, ServerResponse } from 'node:http'
import cookie from '@fastify/cookie'
import type { AppDeps } from '@trunkline/core/app/application'
import { PractisingUsers } from '@trunkline/core/app/operators/practising-user'
import type { OperatorGrant } from '@trunkline/core/domain/operator'
import type { OperatorReads } from '@trunkline/core/ports/operator-reads'
import type { OperatorStore } from '@trunkline/core/ports/operator-store'
import type { FastifyInstance } from 'fastify'
import { Cursors } from '../http/cursor.ts'
import type { Forwarder } from '../http/forwarder.ts'
import type { LoginProvider } from '../oidc/provider.ts'
import { serveText } from '../ops/static-text.ts'
import { OperatorAccess } from './access.ts'
import { waysIn } from './attempts.ts'
import { OperatorCookie } from './cookie.ts'
import type { OperatorDeps } from './deps.ts'
import { EventWaits } from './event-wait.ts'
import { OperatorNodes, type OtherNodes } from './nodes/index.ts'
import { OwnersChanges } from './nodes/owners.ts'
import { operatorApi } from './openapi.ts'
import { PendingLoginCookie } from './pending-login.ts'
import { Places } from './places.ts'
import { ProviderLogins } from './provider-logins.ts'
import { ReadCounts } from './read-counts.ts'
import { OneReplay } from './replay/one-at-a-time.ts'
import type { RequestLog } from './request-log.ts'
import { OPERATIONS } from './routes/index.ts'
import type { NoSandbox, OwnSandbox } from './sandbox/own.ts'
import { PREFIX, serveOperations } from './serve.ts'
import type { ServiceState } from './service-state.ts'

export interface OperatorsOptions {
  readonly operators: OperatorStore
  readonly reads: OperatorReads
  readonly settling: OperatorDeps['settling']
  readonly abandoned: OperatorDeps['abandoned']
  readonly webhooks: OperatorDeps['webhooks']
  readonly requests: RequestLog
  readonly service: ServiceState
  readonly others: OtherNodes
  /** To the owners of users; null: there is one process. */
  readonly forwarder: Forwarder | null
  readonly publicUrl: () => string
  /** Null: operators log in with codes only. */
  readonly login: { readonly provider: LoginProvider; readonly name: string; readonly grants: readonly OperatorGrant[] } | null
  /** The sandbox that this service started, or why it started none. */
  readonly sandbox: OwnSandbox | NoSandbox
}

/** The API, as it is mounted. */
interface MountedApi {
  /** Answers another node, which asks on behalf of an operator. @throws Malformed */
  answer(question: unknown): Promise<unknown>
  /** Takes a request that another node passed on, if an operator is behind it. */
  serve(request: IncomingMessage, response: ServerResponse): boolean
  /** Requests that wait are answered now, and other nodes have nothing more done here. */
  endWaits(): void
  /** Writes what is only counted so far. */
  stop(): Promise<void>
}

export function operatorsApi(http: FastifyInstance, app: AppDeps, options: OperatorsOptions): MountedApi {
  const { operators, requests, service, others, forwarder, publicUrl, login, sandbox, ...parts } = options
  const attempts = waysIn(() => app.clock.monotonicMs(), app.bus)
  const access = new OperatorAccess(
    { operators, attempts, hasher: app.hasher, ids: app.ids, clock: app.clock },
    { publicUrl, cookie: new OperatorCookie(publicUrl), accessAudit: app.accessAudit }
  )
  const { mirrors, ownership, clock, log, hasher, ids } = app
  const nodes = new OperatorNodes({ service, requests, mirrors, others, ownership, clock, log })
  const changes = new OwnersChanges({ app, settling: parts.settling, forwarder })
  const pending = new PendingLoginCookie(new OperatorCookie(publicUrl, 'login'), app)
  const logins =
    login === null
      ? null
      : new ProviderLogins({ ...login, publicUrl, access, pending, attempts: attempts.provider, operators, hasher, ids, log })
  const cursors = new Cursors(app.hasher)
  const directory = new PractisingUsers(app)
  const deps: OperatorDeps = {
    ...parts,
    app,
    operators,
    access,
    nodes,
    changes,
    logins,
    waits: new EventWaits(app),
    places: new Places(),
    cursors,
    sandbox,
    replays: new OneReplay(),
    trading: { deps: { ...app, webhooks: parts.webhooks, directory }, cursors, publicUrl }
  }
  const counts = new ReadCounts({ audit: app.store.audit, clock: app.clock, log: app.log })
  http.register(async scope => {
    await scope.register(cookie)
    serveOperations(scope, OPERATIONS, deps, counts)
    serveText(
      scope,
      `${PREFIX}/openapi.json`,
      () => JSON.stringify(operatorApi(OPERATIONS, publicUrl())),
      () => ({ 'content-type': 'application/json; charset=utf-8' })
    )
  })
  return {
    answer: question => nodes.answer(question),
    serve: (request, response) => changes.serve(request, response),
    endWaits: () => {
      deps.waits.stop()
      changes.stop()
    },
    stop: async () => {
      attempts[Symbol.dispose]()
      directory[Symbol.dispose]()
      await counts.stop()
    }
  }
}
