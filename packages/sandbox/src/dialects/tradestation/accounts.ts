/** Accounts and their balances, in the fields that an adapter reads. */

import type { Account, BalanceView } from '../frame/brokerage.ts'

const TYPES = { margin: 'Margin', cash: 'Cash', futures: 'Futures', coin: 'Cash' } as const satisfies Record<Account['kind'], string>

export function accountWire({ number, kind }: Account, currency: string): object {
  return { AccountID: number, AccountType: TYPES[kind], Currency: currency, Status: 'Active' }
}

/** Futures have their margins under other names, and by currency. */
export function balanceWire({ number, kind }: Account, balance: BalanceView): object {
  const { cash, initialMargin, maintenanceMargin, regTBuyingPower, currency } = balance
  const margins = { InitialMargin: initialMargin, MaintenanceMargin: maintenanceMargin }
  return {
    ...{ AccountID: number, AccountType: TYPES[kind], CashBalance: cash, BuyingPower: balance.buyingPower },
    ...{ Equity: balance.equity, MarketValue: balance.marketValue, TodaysProfitLoss: balance.dailyPl },
    ...(kind === 'futures'
      ? { BalanceDetail: margins, CurrencyDetails: [{ Currency: currency, CashBalance: cash, ...margins }] }
      : { BalanceDetail: { RequiredMargin: initialMargin, OvernightBuyingPower: regTBuyingPower } })
  }
}
