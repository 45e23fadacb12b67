// The sandbox's clock and prices.
import { type FormEvent, type ReactNode, useState } from 'react'
import { get } from '../api.ts'
import type { SandboxClock, SandboxPrice } from '../generated/admin.ts'
import { useRecord } from '../reads.ts'
import { Facts } from './facts.tsx'
import { ChangeButton, Changed, ChangeForm, given, NativeChoice, NativeField, useSandboxChange } from './sandbox-change.tsx'
import { Failure, Reading } from './states.tsx'
import { Time, Value } from './values.tsx'

const HOUR_MS = 3_600_000
const PHASES = ['open', 'pre', 'post', 'closed', 'calendar'] as const
const ASSET_CLASSES = ['share', 'crypto', 'option', 'future'] as const

/** The part of the page about the clock and the markets. */
export function Clock({ clock }: { readonly clock: SandboxClock }): ReactNode {
  const changing = useSandboxChange()
  const { frozen, paused, phases } = clock
  const move = (body: object, report: string) => ({ method: 'POST', path: '/sandbox/clock', body, report }) as const
  return (
    <section aria-labelledby="clock">
      <h2 id="clock">Clock</h2>
      <Facts
        facts={[
          ['Sandbox time', <Time key="time" at={clock.sandbox_time} />],
          ['Clock', frozen ? 'stands still' : 'runs'],
          ['Prices', paused ? 'none come' : clock.prices],
          ['Phases', ASSET_CLASSES.map(name => `${name}: ${phases[name]}`).join(', ')]
        ]}
      />
      <div className="buttons">
        <ChangeButton changing={changing} change={move({ frozen: !frozen }, frozen ? 'The clock runs.' : 'The clock stands still.')}>
          {frozen ? 'Let the clock run' : 'Stop the clock'}
        </ChangeButton>
        <ChangeButton changing={changing} change={move({ advance_ms: HOUR_MS }, 'An hour has passed.')}>
          Forward an hour
        </ChangeButton>
        <ChangeButton changing={changing} change={move({ advance_ms: 24 * HOUR_MS }, 'A day has passed.')}>
          Forward a day
        </ChangeButton>
        <ChangeButton
          changing={changing}
          change={{
            method: 'POST',
            path: '/sandbox/market',
            body: { paused: !paused },
            report: paused ? 'Prices come.' : 'No prices come.'
          }}
        >
          {paused ? 'Let prices come' : 'Pause all prices'}
        </ChangeButton>
      </div>
      <ChangeForm
        changing={changing}
        action="Set the phase"
        changeOf={form => {
          const [phase, of] = [given(form, 'phase'), given(form, 'class')]
          return { method: 'POST', path: '/sandbox/market', body: { phase, class: of }, report: `The market of ${of} is as set.` }
        }}
      >
        <NativeChoice name="phase" label="Phase" values={PHASES} />
        <NativeChoice name="class" label="Class" values={ASSET_CLASSES} />
      </ChangeForm>
      <Changed changing={changing} />
    </section>
  )
}

/** The part of the page about prices, one symbol at a time. */
export function Prices({ refreshMs }: { readonly refreshMs: number | undefined }): ReactNode {
  const [symbol, setSymbol] = useState('')
  const choose = (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault()
    setSymbol(given(new FormData(event.currentTarget), 'symbol')?.toUpperCase() ?? '')
  }
  return (
    <section aria-labelledby="prices">
      <h2 id="prices">Prices</h2>
      <form className="filters" onSubmit={choose}>
        <NativeField name="symbol" label="Symbol" isRequired />
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
  if (price.error !== null) return <Failure error={price.error} again={() => void price.refetch()} />
  if (price.data === undefined) return <Reading what="the price" />
  const { halted } = price.data
  const set = (body: object, report: string) => ({ method: 'POST', path: '/sandbox/price', body: { symbol, ...body }, report }) as const
  return (
    <>
      <Facts facts={factsOf(price.data)} />
      <ChangeForm changing={changing} action="Set the price" changeOf={form => set({ price: given(form, 'price') }, 'The price is set.')}>
        <NativeField name="price" label={`Price of ${symbol}`} isRequired />
      </ChangeForm>
      <div className="buttons">
        <ChangeButton changing={changing} change={set({ halted: !halted }, halted ? 'It trades again.' : 'Its trading is halted.')}>
          {halted ? `Let ${symbol} trade` : `Halt ${symbol}`}
        </ChangeButton>
      </div>
      <Changed changing={changing} />
    </>
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
