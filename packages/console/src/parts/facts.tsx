// Members of a record, each with its name.
import type { ReactNode } from 'react'

export type Fact = readonly [name: string, value: ReactNode]

/** In the order in which they are given. */
export function Facts({ facts }: { readonly facts: readonly Fact[] }): ReactNode {
  return (
    <dl className="facts">
      {facts.map(([name, value]) => (
        <div key={name} className="fact">
          <dt>{name}</dt>
          <dd>{value}</dd>
        </div>
      ))}
    </dl>
  )
}
