// When a record was read, and the button that reads it again.
import type { ReactNode } from 'react'
import { Button } from 'react-aria-components/Button'
import { Time } from './values.tsx'

interface ReadAtProps {
  /** Milliseconds since the epoch, by the clock of the browser. */
  readonly at: number
  readonly isReading: boolean
  readonly again: () => void
}

/** Announced by nobody: the record may be read again every few seconds. */
export function ReadAt({ at, isReading, again }: ReadAtProps): ReactNode {
  return (
    <div className="read-at">
      <span className="hint">
        Read at <Time at={new Date(at).toISOString()} />
      </span>
      <Button className="button" onPress={again} isDisabled={isReading}>
        Read again
      </Button>
    </div>
  )
}
