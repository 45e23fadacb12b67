/** The sandbox brokerage as Alpaca: REST below `/alpaca/api` and `/alpaca/data`, streams beside them, OAuth below `/alpaca/oauth`. */

import type { FastifyInstance, FastifyRequest } from 'fastify'
import { type Dialect, takeJsonBodies } from '../frame/brokerage.ts'
import type { BrokerageView } from '../frame/brokerage-view.ts'
import { OAuth } from '../frame/oauth.ts'
import { type DialectRoute, DialectRouter } from '../frame/router.ts'
import { Access, type Host as HostName } from './access.ts'
import { accountRoutes } from './account.ts'
import { AccountStream } from './account-stream.ts'
import { activityRoutes } from './activities.ts'
import { assetRoutes } from './assets.ts'
import { CustomerView } from './customer-view.ts'
import { dataRoutes } from './data/routes.ts'
import { DataSource } from './data/source.ts'
import { DataStream } from './data/stream.ts'
import type { Kind } from './data/wire.ts'
import { alpacaOAuth } from './oauth.ts'
import { contractRoutes, snapshotRoutes } from './options.ts'
import { orderRoutes } from './orders.ts'
import { dataProblemAnswer, problemAnswer } from './problems.ts'

const NAME = 'alpaca'

export function alpaca(brokerage: BrokerageView): Dialect {
  const customerView = new CustomerView(brokerage)
  const source = new DataSource(brokerage, customerView)
  const endGrant = (grant: string) => {
    for (const { connections } of [stream, ...data]) connections.endGrant(grant)
  }
  const oauth = new OAuth(brokerage, alpacaOAuth(customerView), endGrant)
  const access = new Access(brokerage, oauth.grants)
  const stream: AccountStream = new AccountStream({ brokerage, access, customerView })
  const data: readonly DataStream[] = DATA_KINDS.map(kind => new DataStream({ brokerage, access, source, limits: access.limits }, kind))
  const following = brokerage.publisher.follow(stream)
  return {
    name: NAME,
    mount: app => mount(app, { brokerage, access, oauth, customerView, source }),
    endpoints: [stream.endpoint, ...data.flatMap(({ endpoints }) => endpoints)],
    mint: oauth.mint,
    keys: login => keysOf(access, brokerage, login),
    limits: { shown: () => access.limits.shown(), set: body => access.limits.set(body) },
    endLogin: (login, refreshOnly) => {
      const { count, key } = access.endLogin(login, refreshOnly)
      if (key !== null) endGrant(key)
      return count
    },
    injectFault: (on, order) => {
      if (on === 'account') return stream.connections.injectFault(order)
      return data.reduce((sum, { connections }) => sum + connections.injectFault(order), 0)
    },
    report: () => [...stream.connections.report('account'), ...data.flatMap(({ connections }) => connections.report('market'))],
    reset: () => {
      customerView.pendingReplacements.clear()
      access.limits.reset()
      stream.reset()
      for (const { connections } of data) connections.reset()
    },
    close: () => {
      following[Symbol.dispose]()
      stream.connections.close()
      for (const each of data) each.close()
      access.close()
    }
  }
}

const DATA_KINDS: readonly Kind[] = ['stocks', 'crypto', 'options']

function keysOf(access: Access, { customers }: BrokerageView, login: string): Readonly<Record<string, string>> {
  const customer = customers.byId(login)
  if (customer === undefined) return {}
  const { keyId, secret } = access.keys.pairOf(customer)
  return { key_id: keyId, secret_key: secret }
}

interface Parts {
  readonly brokerage: BrokerageView
  readonly access: Access
  readonly oauth: OAuth
  readonly customerView: CustomerView
  readonly source: DataSource
}

function mount(app: FastifyInstance, { brokerage, access, oauth, customerView, source }: Parts): void {
  oauth.mount(app)
  const deps = { brokerage, customerView, source }
  const api = [...accountRoutes(deps), ...activityRoutes(deps), ...orderRoutes(deps), ...assetRoutes(deps), ...contractRoutes(deps)]
  const data = [...dataRoutes(source), ...snapshotRoutes(deps)]
  open(app, routerOf(brokerage, access, 'api'), { prefix: `/${NAME}/api`, routes: api })
  open(app, routerOf(brokerage, access, 'data'), { prefix: `/${NAME}/data`, routes: data })
}

interface Host {
  readonly prefix: string
  readonly routes: readonly DialectRoute[]
}

function open(app: FastifyInstance, router: DialectRouter, { prefix, routes }: Host): void {
  app.register(
    async scope => {
      // A DELETE may declare a JSON body and have none.
      takeJsonBodies(scope, { empty: 'absent', message: 'request body format is invalid' })
      router.addRefusals(scope)
      for (const route of routes) router.add(scope, { ...route, path: route.path.slice(prefix.length) })
    },
    { prefix }
  )
}

function routerOf(brokerage: BrokerageView, access: Access, host: HostName): DialectRouter {
  return new DialectRouter(brokerage, {
    admit: request => access.admit(request, host),
    problem: host === 'api' ? problemAnswer : dataProblemAnswer,
    headers: request => headersOf(access, host, request),
    created: 200
  })
}

function headersOf(access: Access, host: HostName, request: FastifyRequest): Record<string, string> {
  const left = access.left(request, host)
  if (left === null) return { 'x-request-id': request.id }
  return {
    'x-request-id': request.id,
    'x-ratelimit-limit': String(left.limit),
    'x-ratelimit-remaining': String(left.remaining),
    'x-ratelimit-reset': String(left.resetS)
  }
}
