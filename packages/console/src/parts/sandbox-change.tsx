// Changes of the sandbox that are made at once, and parts of its page that read something of their own.
import type { FormEvent, ReactNode } from 'react'
import { Button } from 'react-aria-components/Button'
import type { ChangeRequest, ReadRequest } from '../api.ts'
import { useRecord } from '../reads.ts'
import { type SentChange, Unsuccessful, useSentChange } from './sent-change.tsx'
import { Failure, Reading } from './states.tsx'

/** A change that is made at once: it harms nobody, or is undone by the same button. What harms is asked for by an `Action`. */
export interface SandboxChange {
  readonly request: ChangeRequest<unknown>
  /** What is so once it is made. */
  readonly report: string
}

export type Changing = SentChange<unknown, SandboxChange>

/** Sends changes, each once. */
export function useSandboxChange(): Changing {
  return useSentChange(({ request }: SandboxChange) => request)
}

/** What became of the last change. */
export function Changed({ changing: { outcome, lookUp } }: { readonly changing: Changing }): ReactNode {
  if (outcome.kind === 'refused' || outcome.kind === 'unknown') return <Unsuccessful outcome={outcome} readAgain={lookUp} />
  return (
    <p className="hint" role="status">
      {outcome.kind === 'pending' ? 'Waiting for the sandbox…' : outcome.kind === 'done' ? outcome.given.report : ''}
    </p>
  )
}

interface ChangeButtonProps {
  readonly changing: Changing
  readonly change: SandboxChange
  readonly children: ReactNode
}

/** A button that makes one change. */
export function ChangeButton({ changing, change, children }: ChangeButtonProps): ReactNode {
  return (
    <Button className="button" isDisabled={!changing.maySend} onPress={() => changing.send(change)}>
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
    changing.send(changeOf(new FormData(event.currentTarget)))
  }
  return (
    <form className="filters" onSubmit={submit}>
      {children}
      <Button className="button" type="submit" isDisabled={!changing.maySend}>
        {action}
      </Button>
    </form>
  )
}

interface PartProps<Answer> {
  readonly id: string
  readonly title: string
  /** What is read, in lower case. */
  readonly what: string
  readonly request: ReadRequest<Answer>
  readonly refreshMs: number | undefined
  /** Of what was read. */
  readonly children: (answer: Answer) => ReactNode
  /** Whatever was read. */
  readonly actions?: ReactNode
}

/** A part of the page that reads something of its own. */
export function SandboxPart<Answer>({ id, title, what, request, refreshMs, children, actions }: PartProps<Answer>): ReactNode {
  const { data, error, refetch } = useRecord(request, refreshMs)
  return (
    <section aria-labelledby={id}>
      <h2 id={id}>{title}</h2>
      {error !== null && <Failure error={error} again={() => void refetch()} />}
      {data === undefined ? error === null && <Reading what={what} /> : children(data)}
      {actions}
    </section>
  )
}

/** What a list lacks, if it does. */
export function Incomplete({ why }: { readonly why: string | null }): ReactNode {
  return why === null ? null : <p className="notice">{why}</p>
}
