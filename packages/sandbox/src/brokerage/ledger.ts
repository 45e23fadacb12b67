/** The instruments and accounts that the state needs before trading. Applied again after a reset, and for every new customer. */

import type { Market } from '../market/types.ts'
import type { BrokerageClock } from './clock.ts'
import { type Customers, ENGINE_TYPE } from './customers.ts'
import type { BrokerageState } from './state.ts'

export interface Ledger {
  readonly state: BrokerageState
  readonly clock: BrokerageClock
}

/** Lists the instruments that the market always feeds; the market lists contracts itself when it feeds them. */
export function listInstruments({ state, market, clock }: Ledger & { readonly market: Market }): void {
  for (const spec of market.instruments) {
    if (state.engine.instrument(spec.symbol) === undefined) state.run({ type: 'list_instrument', at: clock.now(), spec })
  }
}

/** Opens every account that the state does not have yet. */
export function openNewAccounts({ state, customers, clock }: Ledger & { readonly customers: Customers }): void {
  for (const { id, number, kind, cash } of customers.accounts()) {
    if (state.engine.account(id) !== undefined) continue
    const command = {
      type: 'open_account',
      at: clock.now(),
      accountId: id,
      number,
      accountType: ENGINE_TYPE[kind],
      currency: 'USD'
    } as const
    state.run({ ...command, deposit: cash, permitted: null })
  }
}

/** Permits options to the accounts of a state older than options. */
export function permitOptions({ state, customers, clock }: Ledger & { readonly customers: Customers }): void {
  for (const { id, kind } of customers.accounts()) {
    if (kind !== 'margin' && kind !== 'cash') continue
    if (state.engine.account(id)?.permitted.includes('OPT') !== false) continue
    state.run({ type: 'permit', at: clock.now(), accountId: id, kinds: ['OPT'] })
  }
}

/** @throws Error if the state is later than the end of the market */
export function mustSuit(state: BrokerageState, market: Market): void {
  if (market.endsAt === null || state.latest <= market.endsAt) return
  throw new Error('The state in SANDBOX_DATA_DIR is later than the end of the recorded market. Use another folder for this recording.')
}
