// What the sandbox does to requests: the known faults as buttons with their state, all faults as a list, and a form for any other.
import type { ReactNode } from 'react'
import { get } from '../api.ts'
import type { SandboxFault, SandboxFaultTicket } from '../generated/admin.ts'
import { useRecord } from '../reads.ts'
import { KNOWN_FAULTS, type KnownFault, setOnes } from '../sandbox-faults.ts'
import {
  ChangeButton,
  Changed,
  ChangeForm,
  type Changing,
  given,
  NativeChoice,
  NativeField,
  numberIn,
  useSandboxChange
} from './sandbox-change.tsx'
import { Failure, Reading } from './states.tsx'
import { type Column, Rows } from './table.tsx'
import { Value } from './values.tsx'

const REQUEST = get('/sandbox/faults', {})
const EFFECTS: readonly SandboxFaultTicket['do'][] = [
  ...(['refuse', 'refuse_later', 'lose_answer', 'reset', 'hang', 'delay', 'status', 'slow', 'hide'] as const),
  ...(['html', 'truncate', 'garbage', 'empty', 'lose_page', 'spoil', 'place'] as const)
]

/** The part of the page about faults. */
export function Faults({ refreshMs }: { readonly refreshMs: number | undefined }): ReactNode {
  const faults = useRecord(REQUEST, refreshMs)
  const changing = useSandboxChange()
  return (
    <section aria-labelledby="faults">
      <h2 id="faults">Faults</h2>
      {faults.error !== null && <Failure error={faults.error} again={() => void faults.refetch()} />}
      {faults.data === undefined && faults.error === null && <Reading what="the faults" />}
      {faults.data !== undefined && (
        <>
          {/* biome-ignore lint/a11y/useSemanticElements: a fieldset is for a form */}
          <div className="buttons" role="group" aria-label="Known faults">
            {KNOWN_FAULTS.map(known => (
              <FaultButton key={known.name} known={known} faults={faults.data.data} changing={changing} />
            ))}
          </div>
          <Changed changing={changing} />
          <FaultList faults={faults.data.data} changing={changing} />
        </>
      )}
      <details>
        <summary>Another fault</summary>
        <ChangeForm changing={changing} action="Set the fault" changeOf={faultChange}>
          <NativeField name="on" label="Operation" value="orders.submit" isRequired />
          <NativeChoice name="do" label="Effect" values={EFFECTS} />
          <NativeField name="times" label="How often (empty: until cleared)" type="number" />
          <NativeField name="login" label="Practice user" />
          <NativeField name="symbol" label="Symbol" />
          <NativeField name="ms" label="Milliseconds" type="number" />
          <NativeField name="status" label="Status" type="number" />
          <NativeField name="message" label="Message" />
        </ChangeForm>
      </details>
    </section>
  )
}

function faultChange(form: FormData) {
  const effect = EFFECTS.find(each => each === given(form, 'do')) ?? 'refuse'
  const body = {
    ...{ on: given(form, 'on'), do: effect, times: numberIn(form, 'times'), login: given(form, 'login') },
    ...{ symbol: given(form, 'symbol'), ms: numberIn(form, 'ms'), status: numberIn(form, 'status'), message: given(form, 'message') }
  }
  return { method: 'POST', path: '/sandbox/faults', body, report: 'The fault is set.' } as const
}

interface FaultButtonProps {
  readonly known: KnownFault
  readonly faults: readonly SandboxFault[]
  readonly changing: Changing
}

function FaultButton({ known, faults, changing }: FaultButtonProps): ReactNode {
  const [set] = setOnes(known, faults)
  const change =
    set === undefined
      ? ({ method: 'POST', path: '/sandbox/faults', body: known.ticket, report: `Set: ${known.name}.` } as const)
      : ({ method: 'DELETE', path: `/sandbox/faults/${encodeURIComponent(set.fault_id)}`, report: `Cleared: ${known.name}.` } as const)
  return (
    <button
      className="button"
      type="button"
      aria-pressed={set !== undefined}
      disabled={changing.isPending}
      onClick={() => changing.mutate(change)}
    >
      {known.name}
    </button>
  )
}

function FaultList({ faults, changing }: { readonly faults: readonly SandboxFault[]; readonly changing: Changing }): ReactNode {
  const columns: readonly Column<SandboxFault>[] = [
    { name: 'Operation', cell: ({ on }) => <code>{on}</code> },
    { name: 'Effect', cell: fault => <code>{fault.do}</code> },
    { name: 'Left', isNumber: true, cell: ({ left }) => <Value value={left} nullMeans="until cleared" /> },
    { name: 'Hits', isNumber: true, cell: ({ hits }) => hits },
    { name: 'Practice user', cell: ({ login }) => <Value value={login} nullMeans="everybody" /> },
    { name: 'Symbol', cell: ({ symbol }) => <Value value={symbol} nullMeans="any" /> },
    { name: 'Message', cell: ({ message }) => <Value value={message} nullMeans="none" /> },
    {
      name: 'Clear',
      cell: ({ fault_id: id }) => (
        <ChangeButton
          changing={changing}
          change={{ method: 'DELETE', path: `/sandbox/faults/${encodeURIComponent(id)}`, report: `${id} is cleared.` }}
          label={`Clear ${id}`}
        >
          Clear
        </ChangeButton>
      )
    }
  ]
  if (faults.length === 0) return <p>No fault is set.</p>
  return (
    <>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: a part that scrolls sideways must be reachable by keyboard */}
      <section className="scroll" tabIndex={0} aria-label="Table of faults">
        <Rows rows={faults} columns={columns} idOf={({ fault_id: id }) => id} />
      </section>
      <div className="buttons">
        <ChangeButton changing={changing} change={{ method: 'DELETE', path: '/sandbox/faults', report: 'All faults are cleared.' }}>
          Clear all
        </ChangeButton>
      </div>
    </>
  )
}
