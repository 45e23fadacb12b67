// What the sandbox does to requests: the known faults as buttons with their state, all faults as a list, and a form for any other.
import { createContext, type ReactNode, useContext } from 'react'
import { Button } from 'react-aria-components/Button'
import { change, get } from '../api.ts'
import type { SandboxFault, SandboxFaultTicket } from '../generated/admin.ts'
import { namesOf } from '../names.ts'
import { faultText, KNOWN_FAULTS, type KnownFault, narrowedText, setOnes } from '../sandbox-faults.ts'
import { Action, chosenIn, given, numberIn, SelectInput, TextInput, textIn, useChangeDialog } from './action.tsx'
import { ChangeButton, Changed, type Changing, Incomplete, SandboxPart, useSandboxChange } from './sandbox-change.tsx'
import { type Column, ScrolledRows } from './table.tsx'
import { Value } from './values.tsx'

const REQUEST = get('/sandbox/faults', {})
const EFFECTS = namesOf<SandboxFaultTicket['do']>({
  ...{ refuse: true, refuse_later: true, lose_answer: true, reset: true, hang: true, delay: true, status: true, slow: true, hide: true },
  ...{ html: true, truncate: true, garbage: true, empty: true, lose_page: true, spoil: true, place: true }
})
const STAYS = 'Requests of everybody who practises here meet it until it is cleared.'

/** The part of the page about faults. */
export function Faults({ refreshMs }: { readonly refreshMs: number | undefined }): ReactNode {
  const changing = useSandboxChange()
  return (
    <SandboxPart id="faults" title="Faults" what="the faults" request={REQUEST} refreshMs={refreshMs}>
      {({ data: faults, incomplete }) => (
        <>
          {/* biome-ignore lint/a11y/useSemanticElements: a fieldset is for a form */}
          <div className="buttons" role="group" aria-label="Known faults">
            {KNOWN_FAULTS.map(known => (
              <FaultButton key={known.name} known={known} faults={faults} changing={changing} />
            ))}
          </div>
          <Changed changing={changing} />
          <Incomplete why={incomplete} />
          <FaultList faults={faults} changing={changing} />
          <div className="buttons">
            <AnyFault />
            {faults.length > 0 && (
              <ChangeButton
                changing={changing}
                change={{ request: change('DELETE /sandbox/faults', {}, undefined), report: 'All faults are cleared.' }}
              >
                Clear all
              </ChangeButton>
            )}
          </div>
        </>
      )}
    </SandboxPart>
  )
}

function AnyFault(): ReactNode {
  return (
    <Action
      scope="sandbox"
      label="Set another fault"
      confirm="Set the fault"
      title="Set a fault"
      effect="Requests that match it meet it, as often as is given; without a number, until it is cleared."
      fields={
        <>
          <div className="pairs">
            <TextInput name="on" label="Operation" value="orders.submit" hint="Or several, as in orders.*" isRequired />
            <SelectInput name="do" label="Effect" values={EFFECTS} />
            <TextInput name="times" label="How often (empty: until cleared)" type="number" value="1" min={1} />
            <TextInput name="skip" label="How many pass before" type="number" min={0} />
            <TextInput name="login" label="Practice user (empty: everybody)" />
            <TextInput name="symbol" label="Symbol (empty: any)" />
            <TextInput name="client_order_id" label="Id at the broker (empty: any order)" />
            <TextInput name="ms" label="Milliseconds (delay, slow, hide)" type="number" min={0} />
            <TextInput name="status" label="Status of the answer (status, html)" type="number" min={200} max={599} />
            <TextInput name="retry_after" label="Retry-After, in seconds" type="number" min={0} />
            <TextInput name="code" label="Code of the error" />
            <TextInput name="message" label="Message of the error" />
          </div>
          <label>
            <input type="checkbox" name="after" value="yes" /> It takes effect after the operation was carried out
          </label>
        </>
      }
      request={form => change('POST /sandbox/faults', {}, faultIn(form))}
      done={fault => <p>It is set: {faultText(fault)}.</p>}
    />
  )
}

function faultIn(form: FormData): SandboxFaultTicket {
  return {
    ...{ on: textIn(form, 'on'), do: chosenIn(form, 'do', EFFECTS) ?? 'refuse', times: numberIn(form, 'times') },
    ...{ skip: numberIn(form, 'skip'), login: given(form, 'login'), symbol: given(form, 'symbol') },
    ...{ client_order_id: given(form, 'client_order_id'), ms: numberIn(form, 'ms'), status: numberIn(form, 'status') },
    ...{ retry_after: numberIn(form, 'retry_after'), code: given(form, 'code'), message: given(form, 'message') },
    after: form.get('after') === 'yes' ? true : undefined
  }
}

interface FaultButtonProps {
  readonly known: KnownFault
  readonly faults: readonly SandboxFault[]
  readonly changing: Changing
}

/** Pressed while the fault is set. One that stays until it is cleared is asked for. */
function FaultButton({ known: { name, ticket }, faults, changing }: FaultButtonProps): ReactNode {
  const ask = useChangeDialog()
  const [set] = setOnes({ ticket }, faults)
  const stays = ticket.times === undefined
  const request = () => change('POST /sandbox/faults', {}, ticket)
  const press = () => {
    if (set !== undefined) changing.send(clearing(set.fault_id, `Cleared: ${name}.`))
    else if (stays)
      ask({
        ...{ label: 'Set the fault', title: name, effect: STAYS, request },
        done: fault => <p>It is set: {faultText(fault)}. The same button clears it.</p>
      })
    else changing.send({ request: request(), report: `Set: ${name}.` })
  }
  return (
    <button
      className="button"
      type="button"
      aria-pressed={set !== undefined}
      {...(stays && set === undefined && { 'aria-haspopup': 'dialog' as const })}
      disabled={!changing.maySend}
      onClick={press}
    >
      {name}
      {stays && set === undefined && '…'}
    </button>
  )
}

function clearing(id: string, report: string) {
  return { request: change('DELETE /sandbox/faults/{fault_id}', { fault_id: id }, undefined), report }
}

/** For the cells of the list, whose columns must be the same at each render. */
const InList = createContext<Changing | null>(null)

function Clear({ id }: { readonly id: string }): ReactNode {
  const changing = useContext(InList)
  return (
    <Button
      className="button"
      aria-label={`Clear ${id}`}
      isDisabled={changing?.maySend !== true}
      onPress={() => changing?.send(clearing(id, `${id} is cleared.`))}
    >
      Clear
    </Button>
  )
}

const COLUMNS: readonly Column<SandboxFault>[] = [
  { name: 'Operation', cell: ({ on }) => <code>{on}</code> },
  { name: 'Effect', cell: fault => <code>{faultText(fault)}</code> },
  { name: 'Left', isNumber: true, cell: ({ left }) => <Value value={left} nullMeans="until cleared" /> },
  { name: 'Hits', isNumber: true, cell: ({ hits }) => hits },
  { name: 'Who meets it', cell: fault => <Value value={narrowedText(fault)} nullMeans="everybody" /> },
  {
    name: 'Message',
    cell: ({ message }) => (
      <div className="hint">
        <Value value={message} nullMeans="none" />
      </div>
    )
  },
  { name: 'Clear', cell: ({ fault_id: id }) => <Clear id={id} /> }
]

function FaultList({ faults, changing }: { readonly faults: readonly SandboxFault[]; readonly changing: Changing }): ReactNode {
  if (faults.length === 0) return <p>No fault is set.</p>
  return (
    <InList value={changing}>
      <ScrolledRows what="faults" rows={faults} columns={COLUMNS} idOf={({ fault_id: id }) => id} />
    </InList>
  )
}
