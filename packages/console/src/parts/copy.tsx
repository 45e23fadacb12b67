// Copying: ids, and the request of a page as curl or TypeScript.
import { type ReactNode, useEffect, useState } from 'react'
import { Button } from 'react-aria-components/Button'
import { type ApiRequest, asCurl, asTypeScript } from '../snippets.ts'
import { Icon } from './icon.tsx'
import { Id } from './values.tsx'

type Outcome = 'copied' | 'refused'
const SHOWN_MS = 2_000

/** Copies, and has the outcome for a moment. Browsers refuse the clipboard on pages without https, except on this machine. */
function useCopy(): readonly [Outcome | null, (text: string) => void] {
  const [outcome, setOutcome] = useState<Outcome | null>(null)
  useEffect(() => {
    if (outcome === null) return
    const timer = setTimeout(() => setOutcome(null), SHOWN_MS)
    return () => clearTimeout(timer)
  }, [outcome])
  const copy = (text: string) => {
    copyText(text).then(
      () => setOutcome('copied'),
      () => setOutcome('refused')
    )
  }
  return [outcome, copy]
}

async function copyText(text: string): Promise<void> {
  await navigator.clipboard.writeText(text)
}

/** An id with a button that copies it. */
export function CopyText({
  text,
  what,
  children
}: {
  readonly text: string
  readonly what: string
  readonly children?: ReactNode
}): ReactNode {
  const [outcome, copy] = useCopy()
  return (
    <span className="copied">
      {children ?? <Id text={text} />}
      <Button className="copy" aria-label={`Copy ${what} ${text}`} onPress={() => copy(text)}>
        <Icon name={outcome ?? 'copy'} />
      </Button>
      <Announced outcome={outcome} />
    </span>
  )
}

interface CopyRequestProps {
  readonly request: ApiRequest
  /** What it reads. */
  readonly what: string
}

/** The request whose answer is shown, for a terminal or a program. */
export function CopyRequest({ request, what }: CopyRequestProps): ReactNode {
  return (
    // biome-ignore lint/a11y/useSemanticElements: a fieldset is for a form
    <div className="copy-request" role="group" aria-label={`Copy the request of ${what}`}>
      <span className="hint">Copy as</span>
      <CopyButton name="curl" textOf={() => asCurl(request, location.origin)} />
      <CopyButton name="TypeScript" textOf={() => asTypeScript(request, location.origin)} />
    </div>
  )
}

/** The request of one record among others: as small as an id's button, and named with the record. */
export function CopyRowRequest({ request, what }: CopyRequestProps): ReactNode {
  return (
    <span className="copied">
      <SmallButton name="curl" label={`Copy as curl: ${what}`} textOf={() => asCurl(request, location.origin)} />
      <SmallButton name="TS" label={`Copy as TS (TypeScript): ${what}`} textOf={() => asTypeScript(request, location.origin)} />
    </span>
  )
}

interface SmallButtonProps {
  readonly name: string
  readonly label: string
  readonly textOf: () => string
}

function SmallButton({ name, label, textOf }: SmallButtonProps): ReactNode {
  const [outcome, copy] = useCopy()
  return (
    <>
      <Button className="copy named" aria-label={label} onPress={() => copy(textOf())}>
        {outcome === null ? name : <Icon name={outcome} />}
      </Button>
      <Announced outcome={outcome} />
    </>
  )
}

function CopyButton({ name, textOf }: { readonly name: string; readonly textOf: () => string }): ReactNode {
  const [outcome, copy] = useCopy()
  return (
    <>
      <Button className="button" onPress={() => copy(textOf())}>
        <Icon name={outcome ?? 'copy'} /> {name}
      </Button>
      <Announced outcome={outcome} />
    </>
  )
}

function Announced({ outcome }: { readonly outcome: Outcome | null }): ReactNode {
  return (
    <span className="unseen" role="status">
      {outcome === 'copied' ? 'Copied' : outcome === 'refused' ? 'The browser refused to copy' : ''}
    </span>
  )
}
