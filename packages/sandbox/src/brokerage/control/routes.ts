/** All routes of the control API, in the terms of `API.md`. */

import { CLOSE_CODE_EXPECTED, FAULT_KINDS, isCloseCode, STREAM_FAULTS, STREAM_KINDS } from '../../control-terms.ts'
import type { Customers } from '../customers.ts'
import type { Fault, FaultSpec, Faults } from '../faults.ts'
import type { MarketHub } from '../market-stream/hub.ts'
import { Problem } from '../problems.ts'
import { Fields } from '../read.ts'
import type { Hub } from '../stream/hub.ts'
import type { StreamFaultSpec } from '../stream/stream-faults.ts'
import { dialectRoutes } from './dialects.ts'
import { customerNamed, dialectNamed, type LoginControl, loginRoutes } from './logins.ts'
import { clockShown, type MarketControlDeps, marketRoutes } from './market.ts'
import { type OrderControl, orderControlRoutes } from './orders.ts'
import type { ControlRoute } from './server.ts'

export interface ControlDeps extends LoginControl, MarketControlDeps, OrderControl {
  readonly faults: Faults
  readonly hub: Hub
  readonly marketHub: MarketHub
  readonly customers: Customers
  readonly reset: () => Promise<void>
}

const FAULT_FIELDS = [
  'record',
  'on',
  'do',
  'times',
  'skip',
  'login',
  'symbol',
  'client_order_id',
  'after',
  'ms',
  'status',
  'retry_after',
  'code',
  'message',
  'body',
  'page',
  'answer'
]
const MS_MAX = 24 * 3600 * 1000

export function controlRoutes(deps: ControlDeps): readonly ControlRoute[] {
  const routes: readonly ControlRoute[] = [
    ...faultRoutes(deps),
    ...streamRoutes(deps),
    ...loginRoutes(deps),
    ...dialectRoutes(deps.dialects),
    ...orderControlRoutes(deps),
    ...marketRoutes(deps),
    {
      method: 'POST',
      path: '/reset',
      handle: async () => {
        await deps.reset()
        return clockShown(deps)
      }
    }
  ]
  const index = { routes: routes.map(({ method, path }) => `${method} ${path}`) }
  return [
    ...routes,
    { method: 'GET', path: '/', handle: () => ({ ...index, ...clockShown(deps), faults: deps.faults.list().map(faultWire) }) }
  ]
}

function faultRoutes({ faults }: ControlDeps): readonly ControlRoute[] {
  return [
    { method: 'GET', path: '/faults', handle: () => ({ items: faults.list().map(faultWire) }) },
    { method: 'POST', path: '/faults', status: 201, handle: ({ body }) => ({ fault: faultWire(faults.add(faultOf(body))) }) },
    { method: 'DELETE', path: '/faults', handle: () => faults.clear() },
    {
      method: 'DELETE',
      path: '/faults/:id',
      handle: ({ param }) => {
        if (!faults.remove(param)) throw new Problem('unknown_fault', `no fault ${param.slice(0, 40)}, or it has been used up`)
      }
    }
  ]
}

function faultOf(body: unknown): FaultSpec {
  const fields = new Fields(body, FAULT_FIELDS)
  const kind = fields.member('do', FAULT_KINDS)
  if (['delay', 'slow', 'hide'].includes(kind) && !fields.has('ms')) throw new Problem('bad_request', `${kind} needs ms`, { field: 'ms' })
  if (kind === 'status' && !fields.has('status')) throw new Problem('bad_request', 'status needs a status', { field: 'status' })
  return {
    on: fields.text('on'),
    do: kind,
    times: fields.countOr('times', 1, 1_000_000),
    skip: fields.countOr('skip', 0, 1_000_000) ?? 0,
    login: fields.textOr('login'),
    symbol: fields.textOr('symbol'),
    clientOrderId: fields.textOr('client_order_id'),
    after: fields.flagOr('after') ?? false,
    ms: fields.countOr('ms', 0, MS_MAX) ?? 0,
    status: fields.countOr('status', 200, 599),
    retryAfter: fields.countOr('retry_after', 0, 86_400),
    code: fields.textOr('code'),
    message: fields.textOr('message'),
    body: typeof body === 'object' && body !== null && 'body' in body ? body.body : null,
    record: fields.textOr('record'),
    page: fields.countOr('page', 2, 1_000_000) ?? 2,
    answer: fields.flagOr('answer') ?? false
  }
}

function faultWire({ clientOrderId, retryAfter, ...fault }: Fault): object {
  return { ...fault, client_order_id: clientOrderId, retry_after: retryAfter }
}

function streamRoutes({ hub, marketHub, customers, dialects }: ControlDeps): readonly ControlRoute[] {
  const reports = () => dialects.flatMap(dialect => dialect.report().map(report => ({ dialect: dialect.name, ...report })))
  return [
    { method: 'GET', path: '/streams', handle: () => ({ items: [...hub.report(), ...marketHub.report(), ...reports()] }) },
    {
      method: 'POST',
      path: '/streams',
      handle: ({ body }) => {
        const fields = new Fields(body, ['do', 'on', 'dialect', 'login', 'code', 'ms', 'times', 'window'])
        const username = fields.textOr('login')
        const on = fields.memberOr('on', STREAM_KINDS) ?? 'account'
        const dialect = fields.textOr('dialect')
        const spec: StreamFaultSpec = {
          do: fields.member('do', STREAM_FAULTS),
          login: username === null ? null : customerNamed(customers, username).id,
          code: closeCodeOf(fields),
          ms: fields.countOr('ms', 0, MS_MAX) ?? 0,
          times: fields.countOr('times', 1, 1_000_000),
          window: fields.countOr('window', 2, 1_000) ?? 2
        }
        if (dialect !== null) return { streams: dialectNamed(dialects, dialect).injectFault(on, spec) }
        return { streams: (on === 'account' ? hub : marketHub).injectFault(spec) }
      }
    }
  ]
}

function closeCodeOf(fields: Fields): number | null {
  const code = fields.countOr('code', 1000, 4999)
  if (code === null || isCloseCode(code)) return code
  throw new Problem('bad_request', `code must be ${CLOSE_CODE_EXPECTED}, was ${code}`, { field: 'code' })
}
