// The sandbox's clock and prices.
import { type FormEvent, type ReactNode, useState } from 'react'
import { change, get } from '../api.ts'
import type { SandboxClock, SandboxClockTicket, SandboxMarketTicket, SandboxPrice, SandboxPriceTicket } from '../generated/admin.ts'
import { namesOf } from '../names.ts'
import { levelsIn, levelText } from '../quote-levels.ts'
import { useRecord } from '../reads.ts'
import { Action, chosenIn, given, numberIn, SelectInput, TextInput, textIn } from './action.tsx'
import { Facts } from './facts.tsx'
import { ChangeButton, Changed, ChangeForm, useSandboxChange } from './sandbox-change.tsx'
import { Failure, Reading } from './states.tsx'
import { Time, Value } from './values.tsx'

const MINUTE_MS = 60_000
const PHASES = namesOf<NonNullable<SandboxMarketTicket['phase']>>({ open: true, pre: true, post: true, closed: true, calendar: true })
const ASSET_CLASSES = namesOf<NonNullable<SandboxMarketTicket['class']>>({ share: true, crypto: true, option: true, future: true })

const clockChange = (body: SandboxClockTicket) => change('POST /sandbox/clock', {}, body)
const marketChange = (body: SandboxMarketTicket) => change('POST /sandbox/market', {}, body)
const priceChange = (body: SandboxPriceTicket) => change('POST /sandbox/price', {}, body)

/** The part of the page about the clock and the markets. */
export function Clock({ clock }: { readonly clock: SandboxClock }): ReactNode {
  const changing = useSandboxChange()
  const { frozen, paused, phases } = clock
  return (
    <section aria-labelledby="clock">
      <h2 id="clock">Clock and markets</h2>
      <Facts
        facts={[
          ['Sandbox time', <Time key="time" at={clock.sandbox_time} />],
          ['Clock', frozen ? 'stands still' : 'runs'],
          ['Prices', paused ? 'none come' : clock.prices],
          ['Phases', ASSET_CLASSES.map(name => `${name}: ${phases[name]}`).join(', ')]
        ]}
      />
      <div className="buttons">
        <ChangeButton
          changing={changing}
          change={{ request: clockChange({ frozen: !frozen }), report: frozen ? 'The clock runs.' : 'The clock stands still.' }}
        >
          {frozen ? 'Let the clock run' : 'Stop the clock'}
        </ChangeButton>
        <ChangeButton
          changing={changing}
          change={{ request: marketChange({ paused: !paused }), report: paused ? 'Prices come.' : 'No prices come.' }}
        >
          {paused ? 'Let prices come' : 'Pause all prices'}
        </ChangeButton>
        <Forward />
      </div>
      <ChangeForm
        changing={changing}
        action="Set the phase"
        changeOf={form => {
          const [phase, of] = [chosenIn(form, 'phase', PHASES), chosenIn(form, 'class', ASSET_CLASSES)]
          return { request: marketChange({ phase, class: of }), report: `The market of ${of} is as set.` }
        }}
      >
        <SelectInput name="phase" label="Phase" values={PHASES} />
        <SelectInput name="class" label="Class" values={ASSET_CLASSES} />
      </ChangeForm>
      <Changed changing={changing} />
    </section>
  )
}

/** Time does not come back. */
function Forward(): ReactNode {
  return (
    <Action
      scope="sandbox"
      label="Move the clock forward"
      title="Move the clock forward"
      effect="It does not go back: orders that end with the day end, and contracts expire. A day takes about 0.1 s."
      fields={
        <>
          <TextInput name="minutes" label="By minutes (1,440 are a day; 31 days at most)" type="number" value="60" min={1} max={44_640} />
          <TextInput name="set" label="Or to a time" hint="Such as 2026-11-21T14:30:00Z. It counts if both are given." />
        </>
      }
      request={form => {
        const [set, minutes] = [given(form, 'set'), numberIn(form, 'minutes')]
        return clockChange(set === undefined ? { advance_ms: minutes === undefined ? undefined : minutes * MINUTE_MS } : { set })
      }}
      done={({ sandbox_time: at }) => (
        <p>
          It is <Time at={at} /> in the sandbox.
        </p>
      )}
    />
  )
}

/** The part of the page about prices, one symbol at a time. */
export function Prices({ refreshMs }: { readonly refreshMs: number | undefined }): ReactNode {
  const [symbol, setSymbol] = useState('')
  const choose = (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault()
    setSymbol(textIn(new FormData(event.currentTarget), 'symbol').toUpperCase())
  }
  return (
    <section aria-labelledby="prices">
      <h2 id="prices">Prices</h2>
      <form className="filters" onSubmit={choose}>
        <TextInput name="symbol" label="Symbol" isRequired />
        <button className="button" type="submit">
          Show its price
        </button>
      </form>
      {symbol !== '' && <OnePrice key={symbol} symbol={symbol} refreshMs={refreshMs} />}
    </section>
  )
}

function OnePrice({ symbol, refreshMs }: { readonly symbol: string; readonly refreshMs: number | undefined }): ReactNode {
  const price = useRecord(get('/sandbox/price', {}, { symbol }), refreshMs)
  const changing = useSandboxChange()
  if (price.error !== null)
    return (
      <>
        <Failure error={price.error} again={() => void price.refetch()} />
        <Changed changing={changing} />
      </>
    )
  if (price.data === undefined) return <Reading what="the price" />
  const { halted } = price.data
  return (
    <>
      <Facts facts={factsOf(price.data)} />
      <ChangeForm
        changing={changing}
        action="Set the price"
        changeOf={form => ({ request: priceChange({ symbol, price: given(form, 'price') }), report: 'The price is set.' })}
      >
        <TextInput name="price" label={`Price of ${symbol}`} isRequired />
      </ChangeForm>
      <div className="buttons">
        <ChangeButton
          changing={changing}
          change={{
            request: priceChange({ symbol, halted: !halted }),
            report: halted ? 'It trades again.' : 'Its trading is halted.'
          }}
        >
          {halted ? `Let ${symbol} trade` : `Halt ${symbol}`}
        </ChangeButton>
        <QuoteLevels price={price.data} />
        <Dividend symbol={symbol} />
      </div>
      <Changed changing={changing} />
    </>
  )
}

/** What the sandbox shows of a symbol's book. */
function QuoteLevels({ price: { symbol, bid, bid_size: bidSize, ask, ask_size: askSize } }: { readonly price: SandboxPrice }): ReactNode {
  return (
    <Action
      scope="sandbox"
      label="Show a book"
      confirm="Show it"
      title={`The book of ${symbol}`}
      effect="The whole book is replaced, until the next quote of the symbol: pause the prices to keep it. Orders trade with it at once."
      fields={
        <>
          <TextInput
            name="bids"
            label="Bids, the best first"
            value={levelText(bid, bidSize)}
            hint="Each as price x quantity: 99.99 x 5, 99.98 x 10"
          />
          <TextInput name="asks" label="Asks, the best first" value={levelText(ask, askSize)} hint="Empty: there are none." />
        </>
      }
      request={form => priceChange({ symbol, bids: levelsIn(textIn(form, 'bids')), asks: levelsIn(textIn(form, 'asks')) })}
      done={shown => <Facts facts={factsOf(shown)} />}
    />
  )
}

function Dividend({ symbol }: { readonly symbol: string }): ReactNode {
  return (
    <Action
      scope="sandbox"
      label="Pay a dividend"
      title={`Pay a dividend of ${symbol}`}
      effect="Every practice account that holds the symbol gets it now. A repetition pays again."
      fields={<TextInput name="per_share" label="Per share, in US dollars" isRequired />}
      request={form => change('POST /sandbox/dividends', {}, { symbol, per_share: textIn(form, 'per_share') })}
      done={({ paid, per_share: each }) => <p>{`${each} per share was paid to ${paid === 1 ? '1 account' : `${paid} accounts`}.`}</p>}
    />
  )
}

function factsOf({ symbol, bid, bid_size: bidSize, ask, ask_size: askSize, last, halted, phase }: SandboxPrice) {
  const side = (name: string, price: string | null, size: string | null) =>
    [name, price === null ? <Value key={name} value={null} nullMeans="none" /> : `${price}, quantity ${size}`] as const
  return [
    ['Symbol', symbol],
    side('Bid', bid, bidSize),
    side('Ask', ask, askSize),
    ['Last', <Value key="last" value={last} nullMeans="none" />],
    ['Trading', halted ? 'halted' : phase]
  ] as const
}
