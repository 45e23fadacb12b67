// Changes of the sandbox: what was sent, what became of it, and what is read again then.
import { type UseMutationResult, useMutation, useQueryClient } from '@tanstack/react-query'
import type { FormEvent, ReactNode } from 'react'
import { Button } from 'react-aria-components/Button'
import { API, send } from '../api.ts'
import { Failure } from './states.tsx'

/** A change by its path below `/admin/v1`. */
export interface SandboxChange {
  readonly method: 'POST' | 'DELETE'
  readonly path: string
  readonly body?: unknown
  /** What is so once it is made. */
  readonly report: string
}

export type Changing = UseMutationResult<unknown, Error, SandboxChange>

/** Sends changes, each once. Whatever became of one, the page is read again. */
export function useSandboxChange(): Changing {
  const queries = useQueryClient()
  return useMutation({
    mutationFn: ({ method, path, body }: SandboxChange) => send({ method, path: `${API}${path}`, ...(body === undefined ? {} : { body }) }),
    onSettled: () => queries.invalidateQueries({ queryKey: ['record'] })
  })
}

/** What became of the last change. */
export function Changed({ changing }: { readonly changing: Changing }): ReactNode {
  const { error, isPending, isSuccess, variables } = changing
  if (error !== null) return <Failure error={error} />
  return (
    <p className="hint" role="status">
      {isPending ? 'Waiting for the sandbox…' : isSuccess ? variables.report : ''}
    </p>
  )
}

interface ChangeButtonProps {
  readonly changing: Changing
  readonly change: SandboxChange
  readonly children: ReactNode
  readonly label?: string
}

/** A button that makes one change. */
export function ChangeButton({ changing, change, children, label }: ChangeButtonProps): ReactNode {
  return (
    <Button
      className="button"
      isDisabled={changing.isPending}
      {...(label !== undefined && { 'aria-label': label })}
      onPress={() => changing.mutate(change)}
    >
      {children}
    </Button>
  )
}

interface ChangeFormProps {
  readonly changing: Changing
  readonly action: string
  readonly changeOf: (given: FormData) => SandboxChange
  readonly children: ReactNode
}

/** Native fields, whose values a change is made of. */
export function ChangeForm({ changing, action, changeOf, children }: ChangeFormProps): ReactNode {
  const submit = (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault()
    if (!changing.isPending) changing.mutate(changeOf(new FormData(event.currentTarget)))
  }
  return (
    <form className="filters" onSubmit={submit}>
      {children}
      <Button className="button" type="submit" isDisabled={changing.isPending}>
        {action}
      </Button>
    </form>
  )
}

interface NativeFieldProps {
  readonly name: string
  readonly label: string
  readonly isRequired?: boolean
  readonly value?: string
  readonly type?: 'text' | 'number'
}

/** A field of such a form. */
export function NativeField({ name, label, isRequired = false, value = '', type = 'text' }: NativeFieldProps): ReactNode {
  return (
    <label className="field">
      {label}
      <input
        className="input"
        name={name}
        type={type}
        min={0}
        required={isRequired}
        defaultValue={value}
        autoComplete="off"
        spellCheck="false"
      />
    </label>
  )
}

/** A field with some values. */
export function NativeChoice({
  name,
  label,
  values
}: {
  readonly name: string
  readonly label: string
  readonly values: readonly string[]
}): ReactNode {
  return (
    <label className="field">
      {label}
      <select className="input" name={name}>
        {values.map(value => (
          <option key={value}>{value}</option>
        ))}
      </select>
    </label>
  )
}

/** The text of a field; undefined if it is empty, so that it is not sent. */
export function given(form: FormData, name: string): string | undefined {
  const value = form.get(name)
  const text = typeof value === 'string' ? value.trim() : ''
  return text === '' ? undefined : text
}

/** The whole number of a field; undefined if it is empty. */
export function numberIn(form: FormData, name: string): number | undefined {
  const text = given(form, name)
  return text === undefined ? undefined : Number(text)
}
