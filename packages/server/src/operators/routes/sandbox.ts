import { plainText, required } from '../../http/params.ts'
import { type Operation, operation } from '../endpoint.ts'
import { sandboxName } from '../sandbox/crypto-name.ts'
import { CHANGES, FAILURES, noted, READS } from '../sandbox/operations.ts'
import { askSandbox, changeSandbox, ownSandbox } from '../sandbox/own.ts'
import * as present from '../sandbox/present.ts'
import * as records from '../sandbox/records.ts'
import { SANDBOX } from '../sandbox/requests.ts'
import * as tickets from '../sandbox/tickets.ts'

const ABSENT = 'Where the service started no sandbox of its own, every operation of it is refused with `sandbox_absent`.'
const FAULT_ID = plainText(20, 'The fault.', 'fault-1')
const SYMBOL = plainText(40, 'The symbol, as the sandbox writes it. Write the `/` of a crypto pair as `%2F`.', 'AAPL')

export const SANDBOX_MARKET: readonly Operation[] = [
  operation({
    ...READS,
    path: '/sandbox',
    operationId: 'readSandbox',
    summary: 'Read how the sandbox is',
    description: `The sandbox brokerage that this service started itself. ${ABSENT}`,
    success: { status: 200, description: 'Its clock, and how much there is.', schema: records.stateRecord },
    async handle(_call, deps) {
      const { url, brokers } = ownSandbox(deps)
      const [clock, faults, logins] = await Promise.all([
        askSandbox(deps, SANDBOX.clock()),
        askSandbox(deps, SANDBOX.faults()),
        askSandbox(deps, SANDBOX.logins())
      ])
      return {
        ...{ url, brokers: [...brokers], clock: present.presentClock(clock) },
        ...{ faults: faults.items.length, logins: logins.items.length }
      }
    }
  }),
  operation({
    ...READS,
    path: '/sandbox/faults',
    operationId: 'listSandboxFaults',
    summary: 'List the faults',
    success: { status: 200, description: 'The faults; the first that matches a request wins.', schema: records.faultList },
    handle: async (_call, deps) => present.presentFaults(await askSandbox(deps, SANDBOX.faults()))
  }),
  operation({
    ...CHANGES,
    path: '/sandbox/faults',
    operationId: 'setSandboxFault',
    summary: 'Set a fault',
    description: 'Of 1,000 faults at most. A repetition sets another one.',
    body: tickets.faultTicket,
    bodyExample: { on: 'orders.submit', do: 'refuse', message: 'Not today.', times: 1 },
    success: { status: 201, description: 'The fault.', schema: records.faultRecord },
    async handle({ caller, body }, deps) {
      const detail = noted({ do: body.do, times: body.times, login: body.login, symbol: body.symbol, ms: body.ms })
      const made = { action: 'sandbox.fault.set', target: body.on, detail } as const
      const { fault } = await changeSandbox(deps, caller, made, SANDBOX.addFault(body))
      return present.presentFault(fault, fault.times, 0)
    }
  }),
  operation({
    ...CHANGES,
    method: 'DELETE',
    path: '/sandbox/faults',
    operationId: 'clearSandboxFaults',
    summary: 'Clear all faults',
    success: { status: 200, description: 'There are none now.', schema: records.clearedRecord },
    async handle({ caller }, deps) {
      await changeSandbox(deps, caller, { action: 'sandbox.fault.clear', target: 'all' }, SANDBOX.clearFaults())
      return { cleared: 'faults' as const }
    }
  }),
  operation({
    ...CHANGES,
    method: 'DELETE',
    path: '/sandbox/faults/:fault_id',
    operationId: 'clearSandboxFault',
    summary: 'Clear a fault',
    description: 'One that is used up is gone already, which is a refusal.',
    params: { fault_id: FAULT_ID },
    success: { status: 200, description: 'It is gone.', schema: records.clearedRecord },
    async handle({ caller, path }, deps) {
      await changeSandbox(deps, caller, { action: 'sandbox.fault.clear', target: path.fault_id }, SANDBOX.clearFault(path.fault_id))
      return { cleared: 'fault' as const }
    }
  }),
  operation({
    ...CHANGES,
    path: '/sandbox/clock',
    operationId: 'setSandboxClock',
    summary: 'Set the clock',
    description:
      'By `set` or `advance_ms`, forward only, 31 days at most. Orders that end with the day end, and contracts expire. A day of synthetic prices takes about 0.1 s.',
    body: tickets.clockTicket,
    bodyExample: { advance_ms: 3_600_000 },
    success: { status: 200, description: 'The clock as it is now.', schema: records.clockRecord },
    async handle({ caller, body: { set, advance_ms, frozen } }, deps) {
      if (set !== undefined) tickets.demandJump(set, advance_ms, (await askSandbox(deps, SANDBOX.clock())).clock.sandbox_time)
      const made = { action: 'sandbox.clock', target: 'clock', detail: noted({ set, advance_ms, frozen }) } as const
      return present.presentClock(await changeSandbox(deps, caller, made, SANDBOX.setClock({ set, advance_ms, frozen })))
    }
  }),
  operation({
    ...CHANGES,
    path: '/sandbox/market',
    operationId: 'setSandboxMarket',
    summary: 'Set a market’s phase, or pause all prices',
    body: tickets.marketTicket,
    bodyExample: { phase: 'closed', class: 'share' },
    success: { status: 200, description: 'The markets as they are now.', schema: records.clockRecord },
    async handle({ caller, body: { phase, class: of, paused } }, deps) {
      const made = { action: 'sandbox.market', target: of ?? 'share', detail: noted({ phase, paused }) } as const
      const asked = { phase, class: of === undefined ? undefined : sandboxName(of), paused }
      return present.presentClock(await changeSandbox(deps, caller, made, SANDBOX.setMarket(asked)))
    }
  }),
  operation({
    ...READS,
    path: '/sandbox/price',
    operationId: 'readSandboxPrice',
    summary: 'Read a price',
    failures: FAILURES,
    query: { symbol: required(SYMBOL) },
    success: { status: 200, description: 'The best prices now.', schema: records.priceRecord },
    handle: async ({ query }, deps) => (await askSandbox(deps, SANDBOX.price(query.symbol))).quote
  }),
  operation({
    ...CHANGES,
    path: '/sandbox/price',
    operationId: 'setSandboxPrice',
    summary: 'Set a price',
    description: 'Or what is shown of a symbol’s book, which stays until its next quote: pause the prices to keep it.',
    body: tickets.priceTicket,
    bodyExample: { symbol: 'AAPL', price: '187.50' },
    success: { status: 200, description: 'The best prices now.', schema: records.priceRecord },
    async handle({ caller, body }, deps) {
      const { symbol, price, halted, bids, asks } = body
      const detail = noted({ price, halted, bids: bids?.length, asks: asks?.length })
      const made = { action: 'sandbox.price', target: symbol, detail } as const
      const { quote } = await changeSandbox(deps, caller, made, SANDBOX.setPrice(symbol, tickets.priceBody(body)))
      return quote
    }
  }),
  operation({
    ...CHANGES,
    path: '/sandbox/dividends',
    operationId: 'paySandboxDividend',
    summary: 'Pay a dividend',
    description: 'Now, to every holder of the symbol. A repetition pays again.',
    body: tickets.dividendTicket,
    bodyExample: { symbol: 'AAPL', per_share: '0.25' },
    success: { status: 201, description: 'Who received it.', schema: records.dividendRecord },
    async handle({ caller, body: { symbol, per_share } }, deps) {
      const made = { action: 'sandbox.dividend', target: symbol, detail: { per_share } } as const
      const { paid } = await changeSandbox(deps, caller, made, SANDBOX.payDividend({ symbol, per_share }))
      return { symbol, per_share, paid }
    }
  }),
  operation({
    ...CHANGES,
    path: '/sandbox/reset',
    operationId: 'resetSandbox',
    summary: 'Reset the sandbox',
    description: `To its initial state: faults, orders, balances and practice users that were created go, and so do halts, forced phases, a pause, a
frozen clock and lifetimes of tokens that were set. The time and the prices go on from where they are, since time never goes back. Connections of the
two initial users stay; those of others are \`BROKEN\` when they are next used.`,
    body: tickets.resetTicket,
    bodyExample: { confirm: 'reset' },
    success: { status: 200, description: 'It was reset; its clock as it is now.', schema: records.resetRecord },
    async handle({ caller }, deps) {
      // Of the change’s own answer: a read that failed afterwards would say that nothing was changed.
      const made = { action: 'sandbox.reset', target: 'sandbox' } as const
      return { clock: present.presentClock(await changeSandbox(deps, caller, made, SANDBOX.reset())) }
    }
  })
]
