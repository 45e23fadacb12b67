// A change: a button, the sentence that says what will happen, and what then did. An answer that was lost is shown as unknown.
import { useLocation } from '@tanstack/react-router'
import { type FormEvent, type ReactNode, useEffect, useId, useRef, useState } from 'react'
import { Button } from 'react-aria-components/Button'
import { createPortal } from 'react-dom'
import type { ChangeRequest } from '../api.ts'
import { useDialogs } from './dialogs.tsx'
import { useMay } from './scopes.tsx'
import { Unsuccessful, useSentChange } from './sent-change.tsx'

const REASON = 'needs-manage'

/** Says once, on each page with changes, why they are disabled. */
export function NeedsManage(): ReactNode {
  const mayManage = useMay('manage')
  if (mayManage) return null
  return (
    <p id={REASON} className="notice">
      Changes need the scope <code>manage</code>, which this session does not have. A link with it:{' '}
      <code>npm run cli -- operator link --scope read --scope manage</code>.
    </p>
  )
}

/** What a dialog says and sends. */
interface ChangeProps<Answer> {
  readonly label: string
  /** On the button that confirms, where that is not the label: it names what is done then. */
  readonly confirm?: string
  /** The heading of the dialog: what is changed. */
  readonly title: string
  /** One sentence: what will happen. */
  readonly effect: ReactNode
  /** Native fields, whose values the request is made of. */
  readonly fields?: ReactNode
  readonly request: (form: FormData) => ChangeRequest<Answer>
  /** What happened, from the answer, and what was sent. */
  readonly done: (answer: Answer, form: FormData) => ReactNode
}

interface ActionProps<Answer> extends ChangeProps<Answer> {
  /** What names the button where the label does not: in each row of a table, for example. */
  readonly name?: string
  /** The scope that it needs; `manage` if absent. */
  readonly scope?: 'manage' | 'sandbox'
}

/** A button for a change. It stays where it is, disabled, where the session may change nothing. */
export function Action<Answer>(props: ActionProps<Answer>): ReactNode {
  const { label, name, scope = 'manage' } = props
  const may = useMay(scope)
  const ask = useChangeDialog()
  return (
    <Button
      className="button"
      isDisabled={!may}
      {...(!may && scope === 'manage' && { 'aria-describedby': REASON })}
      {...(name !== undefined && { 'aria-label': name })}
      aria-haspopup="dialog"
      onPress={() => ask(props)}
    >
      {label}…
    </Button>
  )
}

/**
 * Opens the dialog of a change. What it says and sends is what it was opened with: a record that another operator changes meanwhile
 * must not turn it into another change.
 */
export function useChangeDialog(): <Answer>(change: ChangeProps<Answer>) => void {
  const open = useDialogs()
  return change => open(close => <ChangeDialog {...change} close={close} />)
}

/** Asks once, sends the change, and says what became of it. */
function ChangeDialog<Answer>(props: ChangeProps<Answer> & { readonly close: () => void }): ReactNode {
  const { label, confirm = label, title, effect, fields, request, done, close } = props
  const dialog = useRef<HTMLDialogElement>(null)
  const heading = useId()
  const change = useSentChange(request)
  const { outcome } = change
  const isPending = outcome.kind === 'pending'
  useEffect(() => dialog.current?.showModal(), [])
  useLeaving(isPending || outcome.kind === 'unknown', close)
  const submit = (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault()
    change.send(new FormData(event.currentTarget))
  }
  return createPortal(
    <dialog
      ref={dialog}
      className="dialog"
      aria-labelledby={heading}
      onCancel={event => {
        // What is under way has an outcome, which would not be seen.
        if (isPending) event.preventDefault()
      }}
      onClose={() => {
        // Browsers do not let a page prevent it twice.
        if (isPending) dialog.current?.showModal()
        else close()
      }}
    >
      <h2 id={heading}>{title}</h2>
      <Unsuccessful outcome={outcome} readAgain={change.readAgain} />
      {outcome.kind === 'done' ? (
        <div role="status">{done(outcome.answer, outcome.given)}</div>
      ) : (
        <form id={`${heading}-form`} onSubmit={submit}>
          <p>{effect}</p>
          {fields}
        </form>
      )}
      <div className="buttons">
        {outcome.kind !== 'done' && outcome.kind !== 'unknown' && (
          <Button className="button primary" type="submit" form={`${heading}-form`} isDisabled={isPending}>
            {isPending ? 'Waiting for the answer…' : confirm}
          </Button>
        )}
        <Button className="button" isDisabled={isPending} onPress={() => dialog.current?.close()}>
          {outcome.kind === 'none' || isPending ? 'Cancel' : 'Close'}
        </Button>
      </div>
    </dialog>,
    document.body
  )
}

/** Closes a dialog when its page is left, but not while nobody knows what became of its change. */
function useLeaving(isKept: boolean, close: () => void): void {
  const { pathname } = useLocation()
  const [at, setAt] = useState(pathname)
  useEffect(() => {
    if (pathname === at) return
    if (isKept) setAt(pathname)
    else close()
  }, [pathname, at, isKept, close])
}

/** A text field of a change. */
export function TextInput({
  name,
  label,
  value = '',
  hint,
  ...more
}: {
  readonly name: string
  readonly label: string
  readonly value?: string
  readonly hint?: string
  readonly isRequired?: boolean
  readonly type?: 'text' | 'number' | 'url'
  readonly min?: number
  readonly max?: number
}): ReactNode {
  const { isRequired = false, type = 'text', min, max } = more
  const limits = type === 'number' ? { min, max } : { maxLength: max }
  return (
    <label className="field">
      {label}
      <input className="input" name={name} type={type} defaultValue={value} required={isRequired} autoComplete="off" {...limits} />
      {hint !== undefined && <span className="hint">{hint}</span>}
    </label>
  )
}

/** A field with some values, of which one is chosen. `none`: the text of the choice that sends nothing. */
export function SelectInput({
  name,
  label,
  values,
  none
}: {
  readonly name: string
  readonly label: string
  readonly values: readonly string[]
  readonly none?: string
}): ReactNode {
  return (
    <label className="field">
      {label}
      <select className="input" name={name}>
        {none !== undefined && <option value="">{none}</option>}
        {values.map(value => (
          <option key={value}>{value}</option>
        ))}
      </select>
    </label>
  )
}

/** Choices of a change, any number of them. */
export function Checks({
  name,
  legend,
  values,
  chosen
}: {
  readonly name: string
  readonly legend: string
  readonly values: readonly string[]
  readonly chosen: readonly string[] | null
}): ReactNode {
  return (
    <fieldset className="checks">
      <legend>{legend}</legend>
      {values.map(value => (
        <label key={value}>
          <input type="checkbox" name={name} value={value} defaultChecked={chosen?.includes(value) === true} /> {value}
        </label>
      ))}
    </fieldset>
  )
}

/** The text of a field; empty if there is none. */
export function textIn(form: FormData, name: string): string {
  const value = form.get(name)
  return typeof value === 'string' ? value.trim() : ''
}

/** The text of a field; undefined if it is empty, so that it is not sent. */
export function given(form: FormData, name: string): string | undefined {
  const text = textIn(form, name)
  return text === '' ? undefined : text
}

/** The number of a field; undefined if it is empty, so that it is not sent. */
export function numberIn(form: FormData, name: string): number | undefined {
  const text = given(form, name)
  return text === undefined ? undefined : Number(text)
}

/** The value that is chosen; undefined if it is none of them. */
export function chosenIn<Value extends string>(form: FormData, name: string, values: readonly Value[]): Value | undefined {
  const text = textIn(form, name)
  return values.find(value => value === text)
}

/** The values that are checked; null: none. */
export function checkedIn<Value extends string>(form: FormData, name: string, values: readonly Value[]): Value[] | null {
  const given = form.getAll(name)
  const chosen = values.filter(value => given.includes(value))
  return chosen.length === 0 ? null : chosen
}
