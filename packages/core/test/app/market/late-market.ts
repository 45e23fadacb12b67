// A broker whose history is made of its own trades as they happen, and answers late.
import { BarBuilder } from '@trunkline/core/domain/market/bar-builder'
import { barClock } from '@trunkline/core/domain/market/bar-clocks'
import type { Bar, Trade } from '@trunkline/core/domain/market/records'
import { BrokerFault } from '@trunkline/core/ports/broker'
import type { BarsRequest, MarketInstrument } from '@trunkline/core/ports/market'
import { ScriptedMarket } from '@trunkline/testkit/scripted-broker/index'

export class LateMarket extends ScriptedMarket {
  /** Awaited before a request reaches the broker, and before its answer reaches us. */
  way: () => Promise<void> = async () => undefined
  /** Whether the broker answers with a fault instead. */
  fails: () => boolean = () => false
  /** The assumed time of the broker, less its true time, in milliseconds. */
  skewMs = 0
  /** The delay until history shows that a bar is over, in milliseconds. */
  lagMs = 0
  readonly #trades: Trade[] = []

  /** Delivers a trade to every listener, if the broker is connected. */
  happen(symbol: string, trade: Trade): void {
    this.#trades.push(trade)
    if (!this.answers) return
    for (const { sink } of this.topics('trades', symbol)) sink.trade(trade)
  }

  override presentMs(): number {
    return this.nowMs + this.skewMs
  }

  /** The bar of one minute, as the broker has it now. */
  minutes(instrument: MarketInstrument): readonly Bar[] {
    return barsOf(this.#trades, instrument, '1m', 'BrokerDefault', this.nowMs)
  }

  /** The correct bars of an interval and session now. */
  truth(instrument: MarketInstrument, interval: string, session: Session): readonly Bar[] {
    return barsOf(this.#trades, instrument, interval, session, this.nowMs)
  }

  override async *bars({ symbol, interval, fromMs, toMs }: BarsRequest): AsyncGenerator<readonly Bar[]> {
    const instrument = this.instruments.get(symbol)
    await this.way()
    if (this.fails() || instrument === undefined) throw new BrokerFault('unreachable', 'no answer')
    const bars = barsOf(this.#trades, instrument, interval, 'BrokerDefault', this.nowMs - this.lagMs)
    const found = bars.filter(({ startMs }) => startMs >= fromMs && startMs < toMs)
    await this.way()
    yield found
  }
}

type Session = 'BrokerDefault' | 'USEqCore'

/** Made directly from all trades, closed when their time is over: the expected result of every subscriber. */
function barsOf(trades: readonly Trade[], instrument: MarketInstrument, text: string, session: Session, nowMs: number): readonly Bar[] {
  const count = Number(text.slice(0, -1)) * (text.endsWith('h') ? 60 : 1)
  const clock = barClock({ unit: 'minute', count }, session, instrument.calendar, instrument.instrument === 'STK')
  const builder = new BarBuilder(clock)
  const bars = trades.flatMap(trade => builder.trade(trade))
  bars.push(...builder.closeUntil(nowMs))
  return builder.open === null ? bars : [...bars, builder.open]
}
