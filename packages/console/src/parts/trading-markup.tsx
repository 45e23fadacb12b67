// What the page of trading consists of. Its texts and rows are written by what it shares with the live page, which finds them by id.
import type { ReactNode } from 'react'

const SIDES = [
  ['BUY', 'Buy'],
  ['SELL', 'Sell']
] as const
const TYPES = [
  ['MKT', 'Market'],
  ['LMT', 'Limit'],
  ['STP', 'Stop']
] as const
const TIMES_IN_FORCE = [
  ['DAY', 'Day'],
  ['GTC', 'Until cancelled'],
  ['IOC', 'Immediate or cancel'],
  ['FOK', 'All or nothing, at once']
] as const
const TABLES = [
  { id: 'working', title: 'Working orders', columns: ['Order', 'Price', 'Filled', 'Status', 'Cancel'] },
  { id: 'positions', title: 'Positions', columns: ['Symbol', 'Quantity', 'Average', 'Last', 'Unrealized'] },
  { id: 'fills', title: 'Fills', columns: ['Time', 'Fill', 'Price'] },
  { id: 'balances', title: 'Balances', columns: ['Currency', 'Cash', 'Buying power', 'Equity'] }
] as const
const FIGURES = [
  ['O', 'Open'],
  ['H', 'High'],
  ['L', 'Low'],
  ['C', 'Close'],
  ['V', 'Volume']
] as const
const QUANTITY = '\\d{1,15}(\\.\\d{1,9})?'

/** The chart, and the figures of the bar that is pointed at. */
export function ChartMarkup(): ReactNode {
  return (
    <>
      <p id="legend" className="legend">
        {FIGURES.map(([name, title]) => (
          <span key={name}>
            <abbr title={title}>{name}</abbr> <output>–</output>
          </span>
        ))}
      </p>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: its keys scroll and zoom the chart, and it is announced with what they do */}
      <section id="chart" className="chart" tabIndex={0} aria-label="Chart" aria-describedby="chart-keys" />
      <p className="hint">
        <span id="chart-keys">On the chart, arrow keys scroll, plus and minus zoom, End returns to the newest bar.</span> Its times are New
        York’s, and those of crypto UTC. TradingView Lightweight Charts™, copyright © 2026{' '}
        <a href="https://www.tradingview.com/">TradingView, Inc.</a>, Apache License 2.0.
      </p>
    </>
  )
}

/** The order ticket. */
export function TicketMarkup(): ReactNode {
  return (
    <form id="ticket" className="ticket" aria-labelledby="ticket-title" autoComplete="off">
      <h2 id="ticket-title">
        Order for <output id="ticket-symbol">–</output>
      </h2>
      <p className="field wide">
        <label htmlFor="ticket-account">Account</label> <select id="ticket-account" className="input" required />
      </p>
      <Choice id="ticket-side" label="Side" choices={SIDES} />
      <p className="field">
        <label htmlFor="ticket-quantity">Quantity</label>
        <Amount id="ticket-quantity" value="10" title="A decimal such as 10 or 0.25" />
      </p>
      <Choice id="ticket-type" label="Type" choices={TYPES} />
      <p className="field">
        <label htmlFor="ticket-price" id="ticket-price-label">
          Price
        </label>
        <Amount id="ticket-price" value="" title="A decimal such as 227.50" />
      </p>
      <Choice id="ticket-tif" label="Time in force" choices={TIMES_IN_FORCE} isWide />
      <p className="wide">
        <button type="submit" className="button primary">
          Preview
        </button>
      </p>
      <p id="ticket-result" className="wide result" role="status" tabIndex={-1} />
      <p className="wide buttons">
        <button id="ticket-place" className="button primary" type="button" hidden>
          Place order
        </button>
        <button id="ticket-forget" className="button" type="button" hidden>
          Stop looking for it
        </button>
      </p>
    </form>
  )
}

function Amount({ id, value, title }: { readonly id: string; readonly value: string; readonly title: string }): ReactNode {
  const bounds = { required: true, inputMode: 'decimal', maxLength: 25, pattern: QUANTITY } as const
  return <input id={id} className="input" defaultValue={value} title={title} {...bounds} />
}

interface ChoiceProps {
  readonly id: string
  readonly label: string
  readonly choices: readonly (readonly [value: string, name: string])[]
  readonly isWide?: boolean
}

function Choice({ id, label, choices, isWide = false }: ChoiceProps): ReactNode {
  return (
    <p className={isWide ? 'field wide' : 'field'}>
      <label htmlFor={id}>{label}</label>{' '}
      <select id={id} className="input">
        {choices.map(([value, name]) => (
          <option key={value} value={value}>
            {name}
          </option>
        ))}
      </select>
    </p>
  )
}

/** What the account has. */
export function TablesMarkup(): ReactNode {
  return (
    <div className="tables">
      {TABLES.map(({ id, title, columns }) => (
        <div key={id} className="part">
          <h2 id={`${id}-title`}>
            {title} <span id={`${id}-count`} className="quiet" />
          </h2>
          {(id === 'positions' || id === 'balances') && <p id={`${id}-as-of`} className="quiet as-of" />}
          {/* biome-ignore lint/a11y/noNoninteractiveTabindex: the keyboard scrolls it */}
          <section className="box account-box" tabIndex={0} aria-labelledby={`${id}-title`}>
            <table className="figures">
              <thead>
                <tr>
                  {columns.map((name, index) => (
                    <th key={name} scope="col" className={index === 0 ? 'first' : undefined}>
                      {name}
                    </th>
                  ))}
                </tr>
              </thead>
              <tbody id={id} />
            </table>
          </section>
        </div>
      ))}
    </div>
  )
}
