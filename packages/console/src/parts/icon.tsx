// The icons, as paths on a square of 16. They stand beside a text or a label that says the same.
import type { ReactNode } from 'react'

const PATHS = {
  copy: 'M5.5 5.5v-3h8v8h-3M2.5 5.5h8v8h-8z',
  copied: 'M3 8.5l3.5 3.5L13 4.5',
  refused: 'M4 4l8 8M12 4l-8 8',
  done: 'M3 8.5l3.5 3.5L13 4.5',
  open: 'M8 2.5a5.5 5.5 0 1 0 0.01 0z'
} as const

/** An icon in the colour of the text around it. */
export function Icon({ name }: { readonly name: keyof typeof PATHS }): ReactNode {
  return (
    <svg className="icon" viewBox="0 0 16 16" width="16" height="16" aria-hidden="true">
      <path d={PATHS[name]} fill="none" stroke="currentColor" strokeWidth="1.5" strokeLinecap="round" strokeLinejoin="round" />
    </svg>
  )
}
