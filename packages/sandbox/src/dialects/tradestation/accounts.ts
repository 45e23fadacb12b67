/** Accounts, their balances, and the balances the day began with. */

import { type Decimal, minus, sum } from '@trunkline/core/domain/decimal'
import type { Account } from '../../brokerage/customers.ts'
import type { BalanceView, PositionView } from '../../engine/types.ts'
import { decimal } from './figures.ts'

const TYPES = { margin: 'Margin', cash: 'Cash', futures: 'Futures', coin: 'Cash' } as const satisfies Record<Account['kind'], string>

export function accountWire({ number, kind }: Account, currency: string): object {
  const base = { AccountID: number, AccountType: TYPES[kind], Currency: currency, Status: 'Active' }
  if (kind === 'futures') return base
  const detail = {
    IsStockLocateEligible: false,
    EnrolledInRegTProgram: false,
    RequiresBuyingPowerWarning: false,
    DayTradingQualified: true,
    OptionApprovalLevel: kind === 'margin' ? 5 : 1,
    PatternDayTrader: false
  }
  return { ...base, AccountDetail: detail }
}

export function balanceWire({ number, kind }: Account, balance: BalanceView, positions: readonly PositionView[]): object {
  const futures = kind === 'futures'
  return {
    AccountID: number,
    AccountType: TYPES[kind],
    CashBalance: balance.cash,
    BuyingPower: balance.buyingPower,
    Equity: balance.equity,
    MarketValue: balance.marketValue,
    TodaysProfitLoss: balance.dailyPl,
    UnclearedDeposit: '0',
    Commission: balance.fees,
    BalanceDetail: futures ? futuresDetail(balance) : equitiesDetail(balance, positions),
    ...(futures ? { CurrencyDetails: [currencyDetail(balance)] } : {})
  }
}

function equitiesDetail(balance: BalanceView, positions: readonly PositionView[]): object {
  const options = positions.filter(({ kind }) => kind === 'OPT')
  return {
    CostOfPositions: total(positions, 'costBasis'),
    DayTradeExcess: balance.excess,
    DayTrades: '0',
    MaintenanceRate: '1.00',
    OptionBuyingPower: balance.excess.startsWith('-') ? '0' : balance.excess,
    OptionsMarketValue: total(options, 'marketValue'),
    OvernightBuyingPower: balance.regTBuyingPower,
    RequiredMargin: balance.initialMargin,
    RealizedProfitLoss: balance.realizedPl,
    UnrealizedProfitLoss: balance.unrealizedPl,
    UnsettledFunds: minus(decimal(balance.cash), decimal(balance.settledCash))
  }
}

function futuresDetail(balance: BalanceView): object {
  return {
    DayTradeExcess: balance.excess,
    DayTradeMargin: '0',
    DayTradeOpenOrderMargin: '0',
    InitialMargin: balance.initialMargin,
    MaintenanceMargin: balance.maintenanceMargin,
    MarginRequirement: balance.initialMargin,
    OpenOrderMargin: balance.reserved,
    RealizedProfitLoss: balance.realizedPl,
    SecurityOnDeposit: '0',
    TodayRealTimeTradeEquity: balance.dailyPl,
    TradeEquity: balance.unrealizedPl,
    UnrealizedProfitLoss: balance.unrealizedPl,
    UnsettledFunds: '0'
  }
}

function currencyDetail(balance: BalanceView): object {
  return {
    Currency: balance.currency,
    CashBalance: balance.cash,
    Commission: balance.fees,
    InitialMargin: balance.initialMargin,
    MaintenanceMargin: balance.maintenanceMargin,
    AccountMarginRequirement: balance.initialMargin,
    AccountConversionRate: '1',
    RealizedProfitLoss: balance.realizedPl,
    UnrealizedProfitLoss: balance.unrealizedPl
  }
}

/** The sandbox keeps no figures of the morning: the day's gains and losses are taken off the present ones, deposits and fees are not. */
export function morningWire({ number, kind }: Account, balance: BalanceView): object {
  const equity = minus(decimal(balance.equity), decimal(balance.dailyPl))
  return {
    AccountID: number,
    AccountType: TYPES[kind],
    BalanceDetail: {
      AccountBalance: balance.cash,
      CashAvailableToWithdraw: balance.settledCash,
      DayTrades: '0',
      DayTradingMarginableBuyingPower: balance.regTBuyingPower,
      Equity: equity,
      NetCash: balance.cash,
      OpenTradeEquity: balance.unrealizedPl,
      OptionBuyingPower: balance.excess,
      OptionValue: '0',
      OvernightBuyingPower: balance.regTBuyingPower,
      SecurityOnDeposit: '0'
    },
    ...(kind === 'futures'
      ? { CurrencyDetails: [{ Currency: balance.currency, CashBalance: balance.cash, AccountMarginRequirement: balance.initialMargin }] }
      : {})
  }
}

function total(positions: readonly PositionView[], field: 'costBasis' | 'marketValue'): Decimal {
  return sum(positions.map(position => decimal(position[field])))
}
