/** The sandbox brokerage as Alpaca: REST below `/alpaca/api` and `/alpaca/data`, streams beside them, OAuth below `/alpaca/oauth`. */

import { timestampOfMs } from '@trunkline/core/domain/timestamp'
import type { FastifyInstance, FastifyRequest } from 'fastify'
import type { Dialect, DialectHouse } from '../../house/dialect.ts'
import { takeJsonBodies } from '../../house/json-body.ts'
import { type DialectRoute, DialectRouter } from '../frame/router.ts'
import { Access, type Host as HostName } from './access.ts'
import { accountRoutes } from './account.ts'
import { AccountStream } from './account-stream.ts'
import { activityRoutes } from './activities.ts'
import { assetRoutes } from './assets.ts'
import { Customers } from './customers.ts'
import { dataRoutes } from './data/routes.ts'
import { DataSource } from './data/source.ts'
import { DataStream } from './data/stream.ts'
import type { Kind } from './data/wire.ts'
import { OAuth } from './oauth.ts'
import { contractRoutes, snapshotRoutes } from './options.ts'
import { orderRoutes } from './orders.ts'
import { dataProblemAnswer, problemAnswer } from './problems.ts'

const NAME = 'alpaca'

export function alpaca(house: DialectHouse): Dialect {
  const customers = new Customers(house)
  const source = new DataSource(house, customers)
  const endGrant = (grant: string) => {
    for (const { lines } of [stream, ...data]) lines.endGrant(grant)
  }
  const access = new Access(house, endGrant)
  const stream: AccountStream = new AccountStream({ house, access, customers })
  const data: readonly DataStream[] = KINDS.map(kind => new DataStream({ house, access, source, limits: access.limits }, kind))
  const oauth = new OAuth(house, access.grants, customers)
  const following = house.news.follow(stream)
  return {
    name: NAME,
    mount: app => mount(app, { house, access, oauth, customers, source }),
    entrances: [stream.entrance, ...data.flatMap(({ entrances }) => entrances)],
    mint: (login, scopes) => {
      const { token, scope } = oauth.mint(login, scopes.includes('trade') ? 'trading data' : 'data')
      return { access_token: token, issued_at: timestampOfMs(house.realNow()), scope }
    },
    keys: login => keysOf(access, house, login),
    limits: { shown: () => access.limits.shown(), set: body => access.limits.set(body) },
    endLogin: (login, refreshOnly) => {
      const { count, key } = access.endLogin(login, refreshOnly)
      if (key !== null) endGrant(key)
      return count
    },
    misbehave: (on, order) => {
      if (on === 'account') return stream.lines.misbehave(order)
      return data.reduce((sum, { lines }) => sum + lines.misbehave(order), 0)
    },
    report: () => [...stream.lines.report('account'), ...data.flatMap(({ lines }) => lines.report('market'))],
    reset: () => {
      customers.promises.clear()
      access.limits.reset()
      stream.reset()
      for (const { lines } of data) lines.reset()
    },
    close: () => {
      following[Symbol.dispose]()
      stream.lines.close()
      for (const each of data) each.close()
      access.close()
    }
  }
}

const KINDS: readonly Kind[] = ['stocks', 'crypto', 'options']

function keysOf(access: Access, { people }: DialectHouse, login: string): Readonly<Record<string, string>> {
  const person = people.byId(login)
  if (person === undefined) return {}
  const { keyId, secret } = access.keys.pairOf(person)
  return { key_id: keyId, secret_key: secret }
}

interface Parts {
  readonly house: DialectHouse
  readonly access: Access
  readonly oauth: OAuth
  readonly customers: Customers
  readonly source: DataSource
}

function mount(app: FastifyInstance, { house, access, oauth, customers, source }: Parts): void {
  oauth.mount(app)
  const deps = { house, customers, source }
  const api = [...accountRoutes(deps), ...activityRoutes(deps), ...orderRoutes(deps), ...assetRoutes(deps), ...contractRoutes(deps)]
  const data = [...dataRoutes(source), ...snapshotRoutes(deps)]
  open(app, routerOf(house, access, 'api'), { prefix: `/${NAME}/api`, routes: api })
  open(app, routerOf(house, access, 'data'), { prefix: `/${NAME}/data`, routes: data })
}

interface Host {
  readonly prefix: string
  readonly routes: readonly DialectRoute[]
}

function open(app: FastifyInstance, router: DialectRouter, { prefix, routes }: Host): void {
  app.register(
    async scope => {
      // A DELETE may say that its body is JSON and have none.
      takeJsonBodies(scope, { empty: 'absent', message: 'request body format is invalid' })
      router.addRefusals(scope)
      for (const route of routes) router.add(scope, { ...route, path: route.path.slice(prefix.length) })
    },
    { prefix }
  )
}

function routerOf(house: DialectHouse, access: Access, host: HostName): DialectRouter {
  return new DialectRouter(house, {
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
