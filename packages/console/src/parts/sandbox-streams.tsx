// The open streams of the sandbox, and what is done to them.
import type { ReactNode } from 'react'
import { change, get } from '../api.ts'
import { counted } from '../format.ts'
import type { SandboxStream, SandboxStreamsTicket } from '../generated/admin.ts'
import { namesOf } from '../names.ts'
import { Action, chosenIn, given, numberIn, SelectInput, TextInput } from './action.tsx'
import { Incomplete, SandboxPart } from './sandbox-change.tsx'
import { type Column, ScrolledRows } from './table.tsx'
import { Value } from './values.tsx'

const REQUEST = get('/sandbox/streams', {})
const EFFECTS = namesOf<SandboxStreamsTicket['do']>({
  ...{ drop: true, mute: true, delay: true, duplicate: true, reorder: true, lose: true, garble: true, normal: true }
})
const STREAM_TYPES = namesOf<NonNullable<SandboxStreamsTicket['on']>>({ account: true, market: true })
const BROKERS = namesOf<NonNullable<SandboxStreamsTicket['broker']>>({ alpaca: true, tradier: true, tradestation: true })

/** The part of the page about streams. */
export function Streams({ refreshMs }: { readonly refreshMs: number | undefined }): ReactNode {
  return (
    <SandboxPart
      id="streams"
      title="Streams"
      what="the streams"
      request={REQUEST}
      refreshMs={refreshMs}
      actions={
        <div className="buttons after-rows">
          <Disturb />
        </div>
      }
    >
      {({ data, incomplete }) => (
        <>
          <Incomplete why={incomplete} />
          {data.length === 0 ? (
            <p>No stream is open.</p>
          ) : (
            <ScrolledRows
              what="streams"
              rows={data}
              columns={COLUMNS}
              idOf={({ on, broker, login_id: login }) => `${on} ${broker} ${login}`}
            />
          )}
        </>
      )}
    </SandboxPart>
  )
}

function Disturb(): ReactNode {
  return (
    <Action
      scope="sandbox"
      label="Disturb streams"
      confirm="Do it"
      title="Disturb streams"
      effect="drop closes streams and garble sends what cannot be read, once. The others last until normal, and are met by streams that open later too."
      fields={
        <div className="pairs">
          <SelectInput name="do" label="Effect" values={EFFECTS} />
          <SelectInput name="on" label="Streams of" values={STREAM_TYPES} />
          <SelectInput name="broker" label="Broker" values={BROKERS} none="the sandbox’s own" />
          <TextInput name="login" label="Practice user (empty: everybody)" />
          <TextInput name="code" label="Close code (drop; empty: the connection is cut)" type="number" min={1000} max={4999} />
          <TextInput name="ms" label="Milliseconds (mute, delay)" type="number" min={0} />
          <TextInput name="times" label="How many events (duplicate, lose)" type="number" min={1} />
          <TextInput name="window" label="How many events at a time (reorder)" type="number" min={2} />
        </div>
      }
      request={form => change('POST /sandbox/streams', {}, disturbanceIn(form))}
      done={({ streams }) => <p>{streams === 1 ? 'It was done to 1 stream.' : `It was done to ${counted(streams)} streams.`}</p>}
    />
  )
}

function disturbanceIn(form: FormData): SandboxStreamsTicket {
  return {
    ...{ do: chosenIn(form, 'do', EFFECTS) ?? 'normal', on: chosenIn(form, 'on', STREAM_TYPES), broker: chosenIn(form, 'broker', BROKERS) },
    ...{ login: given(form, 'login'), code: numberIn(form, 'code'), ms: numberIn(form, 'ms') },
    ...{ times: numberIn(form, 'times'), window: numberIn(form, 'window') }
  }
}

const COLUMNS: readonly Column<SandboxStream>[] = [
  { name: 'Streams of', cell: ({ on }) => on },
  { name: 'Broker', cell: ({ broker }) => <Value value={broker} nullMeans="the sandbox’s own" /> },
  { name: 'Login', cell: ({ login_id: login }) => <Value value={login} nullMeans="not named" /> },
  { name: 'Open', isNumber: true, cell: ({ open }) => <Value value={open} nullMeans="not counted" /> }
]
