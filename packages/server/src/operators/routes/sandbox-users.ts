import { plainText, required } from '../../http/params.ts'
import { type Operation, operation } from '../endpoint.ts'
import { CHANGES, FAILURES, noted, READS } from '../sandbox/operations.ts'
import { askSandbox, changeSandbox } from '../sandbox/own.ts'
import * as present from '../sandbox/present.ts'
import * as records from '../sandbox/records.ts'
import { SANDBOX } from '../sandbox/requests.ts'
import * as tickets from '../sandbox/tickets.ts'

const ofLogin = { params: { username: plainText(64, 'The practice user.', 'alex') } } as const
const ofOrder = { params: { broker_order_id: plainText(64, 'The order, by its id at the broker.', 'f3c1a2') } } as const

export const SANDBOX_USERS: readonly Operation[] = [
  operation({
    ...READS,
    path: '/sandbox/logins',
    operationId: 'listSandboxLogins',
    summary: 'List the practice users',
    description: 'With their passwords, which open practice accounts only. API keys of theirs are not listed.',
    success: { status: 200, description: 'Those of the start, then those that were created.', schema: records.loginList },
    handle: async (_call, deps) => present.presentLogins(await askSandbox(deps, SANDBOX.logins()))
  }),
  operation({
    ...CHANGES,
    path: '/sandbox/logins',
    operationId: 'createSandboxLogin',
    summary: 'Create a practice user',
    description: 'A username that exists is refused.',
    body: tickets.loginTicket,
    bodyExample: { username: 'rich', accounts: [{ kind: 'margin', cash: '20000000' }] },
    success: { status: 201, description: 'The practice user.', schema: records.loginRecord },
    async handle({ caller, body: { username, password, name, accounts } }, deps) {
      const detail = noted({ accounts: accounts?.length })
      const made = { action: 'sandbox.login.create', target: username ?? 'chosen by the sandbox', detail } as const
      const asked = { username, password, name, accounts: accounts?.map(tickets.accountBody) }
      return present.presentLogin(await changeSandbox(deps, caller, made, SANDBOX.addLogin(asked)))
    }
  }),
  operation({
    ...CHANGES,
    ...ofLogin,
    path: '/sandbox/logins/:username/accounts',
    operationId: 'createSandboxAccount',
    summary: 'Add an account to a practice user',
    description: 'Of 20 accounts at most. A connection that exists gets it when its accounts are read again.',
    body: tickets.accountTicket,
    bodyExample: { kind: 'futures', cash: '50000' },
    success: { status: 201, description: 'The practice user as it is now.', schema: records.loginRecord },
    async handle({ caller, path: { username }, body }, deps) {
      const made = { action: 'sandbox.login.account', target: username, detail: noted({ kind: body.kind, cash: body.cash }) } as const
      return present.presentLogin(await changeSandbox(deps, caller, made, SANDBOX.addAccount(username, tickets.accountBody(body))))
    }
  }),
  operation({
    ...CHANGES,
    ...ofLogin,
    path: '/sandbox/logins/:username/end-grants',
    operationId: 'endSandboxGrants',
    summary: 'End a practice user’s grants',
    description: 'As if the user had withdrawn them at the broker: connections are `BROKEN` when they are next used.',
    body: tickets.grantsTicket,
    bodyExample: { refresh_only: false },
    success: { status: 200, description: 'How many ended.', schema: records.grantsRecord },
    async handle({ caller, path: { username }, body: { refresh_only } }, deps) {
      const made = { action: 'sandbox.login.end_grants', target: username, detail: noted({ refresh_only }) } as const
      const { grants } = await changeSandbox(deps, caller, made, SANDBOX.endGrants(username, { refresh_only }))
      return { username, grants }
    }
  }),
  operation({
    ...CHANGES,
    path: '/sandbox/tokens',
    operationId: 'setSandboxTokens',
    summary: 'Set how long tokens live',
    body: tickets.tokensTicket,
    bodyExample: { access_seconds: 30 },
    success: { status: 200, description: 'What holds from now on.', schema: records.tokensRecord },
    async handle({ caller, body: { access_seconds, refresh_grace_ms } }, deps) {
      const made = { action: 'sandbox.tokens', target: 'tokens', detail: noted({ access_seconds, refresh_grace_ms }) } as const
      await changeSandbox(deps, caller, made, SANDBOX.setTokens({ access_ttl_s: access_seconds, refresh_grace_ms }))
      return { access_seconds: access_seconds ?? null, refresh_grace_ms: refresh_grace_ms ?? null }
    }
  }),
  operation({
    ...READS,
    path: '/sandbox/streams',
    operationId: 'listSandboxStreams',
    summary: 'List the sandbox’s open streams',
    success: { status: 200, description: 'By kind and login.', schema: records.streamList },
    handle: async (_call, deps) => present.presentStreams(await askSandbox(deps, SANDBOX.streams()))
  }),
  operation({
    ...CHANGES,
    path: '/sandbox/streams',
    operationId: 'disturbSandboxStreams',
    summary: 'Disturb streams',
    description: '`mute`, `delay`, `duplicate`, `reorder` and `lose` act on streams that open later too, until `normal`.',
    body: tickets.streamsTicket,
    bodyExample: { do: 'drop', login: 'alex' },
    success: { status: 200, description: 'How many streams it was done to.', schema: records.disturbedRecord },
    async handle({ caller, body: { do: effect, on, broker, login, code, ms, times, window } }, deps) {
      const made = {
        action: 'sandbox.streams',
        target: login ?? 'all',
        detail: noted({ do: effect, on, broker, code, ms, times })
      } as const
      const body = { do: effect, on, dialect: broker, login, code, ms, times, window }
      const { streams } = await changeSandbox(deps, caller, made, SANDBOX.disturbStreams(body))
      return { streams }
    }
  }),
  operation({
    ...READS,
    path: '/sandbox/orders',
    operationId: 'findSandboxOrder',
    summary: 'Find an order in the sandbox',
    description: 'Of any practice user, by the id that the service gave it (`broker_cl_ord_id` of the step `sent`).',
    failures: FAILURES,
    query: { client_order_id: required(plainText(64, 'The id that the sandbox was sent.', '3bK2zR0q')) },
    success: { status: 200, description: 'What the sandbox has of it.', schema: records.sandboxOrders },
    async handle({ query }, deps) {
      const { received, accepted, orders } = await askSandbox(deps, SANDBOX.orders(query.client_order_id))
      return { received, accepted, data: orders }
    }
  }),
  operation({
    ...CHANGES,
    ...ofOrder,
    path: '/sandbox/orders/:broker_order_id/fill',
    operationId: 'fillSandboxOrder',
    summary: 'Fill an order in the sandbox',
    body: tickets.fillTicket,
    bodyExample: { quantity: '1' },
    success: { status: 200, description: 'The order as the sandbox has it now.', schema: records.sandboxOrder },
    async handle({ caller, path, body: { quantity } }, deps) {
      const made = { action: 'sandbox.order.fill', target: path.broker_order_id, detail: { quantity } } as const
      const { order } = await changeSandbox(deps, caller, made, SANDBOX.fillOrder(path.broker_order_id, { quantity }))
      return order
    }
  }),
  operation({
    ...CHANGES,
    ...ofOrder,
    path: '/sandbox/orders/:broker_order_id/cancel',
    operationId: 'cancelSandboxOrder',
    summary: 'Cancel an order from the sandbox’s side',
    success: { status: 200, description: 'The order as the sandbox has it now.', schema: records.sandboxOrder },
    async handle({ caller, path }, deps) {
      const made = { action: 'sandbox.order.cancel', target: path.broker_order_id } as const
      return (await changeSandbox(deps, caller, made, SANDBOX.cancelOrder(path.broker_order_id))).order
    }
  }),
  operation({
    ...CHANGES,
    ...ofOrder,
    path: '/sandbox/orders/:broker_order_id/reveal',
    operationId: 'revealSandboxOrder',
    summary: 'Show an order that the fault `hide` hides',
    description: 'Nothing happens to an order that is not hidden.',
    success: { status: 200, description: 'The order is shown.', schema: records.revealedRecord },
    async handle({ caller, path: { broker_order_id: id } }, deps) {
      await changeSandbox(deps, caller, { action: 'sandbox.order.reveal', target: id }, SANDBOX.revealOrder(id))
      return { id }
    }
  }),
  operation({
    ...READS,
    path: '/sandbox/counters',
    operationId: 'readSandboxCounters',
    summary: 'Read how often each operation of the sandbox was asked for',
    success: { status: 200, description: 'By operation.', schema: records.counterList },
    handle: (_call, deps) => askSandbox(deps, SANDBOX.counters())
  }),
  operation({
    ...CHANGES,
    method: 'DELETE',
    path: '/sandbox/counters',
    operationId: 'clearSandboxCounters',
    summary: 'Clear the counters',
    success: { status: 200, description: 'They begin at zero.', schema: records.clearedRecord },
    async handle({ caller }, deps) {
      await changeSandbox(deps, caller, { action: 'sandbox.counters.clear', target: 'counters' }, SANDBOX.clearCounters())
      return { cleared: 'counters' as const }
    }
  })
]
