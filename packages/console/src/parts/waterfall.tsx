// The steps of an order on one scale, each with all that was recorded of it.
import type { ReactNode } from 'react'
import { tookText } from '../format.ts'
import type { OrderStep } from '../generated/admin.ts'
import { nullOf, outcomeOf, titleOf } from '../step-texts.ts'
import { type Place, waterfallOf } from '../waterfall.ts'
import { Missing, Status, Time, Value } from './values.tsx'

/** Steps in the order in which the service lists them. */
export function StepsWaterfall({ steps }: { readonly steps: readonly OrderStep[] }): ReactNode {
  const { places, scale, total, isOutOfOrder } = waterfallOf(steps.map(step => ({ at: step.at, took_ms: tookOf(step) })))
  return (
    <>
      <p className="hint">
        From the first to the last recorded time: {total ?? <Missing />}. The scale is {scale}.
        {isOutOfOrder && ' Some times are earlier than that of the step above. Each is shown as it was recorded.'}
      </p>
      <ol className="waterfall">
        {steps.map((step, index) => (
          // A step has no id of its own, and the list is only ever replaced as a whole.
          // biome-ignore lint/suspicious/noArrayIndexKey: see above
          <Step key={index} step={step} place={places[index]} />
        ))}
      </ol>
    </>
  )
}

function Step({ step, place }: { readonly step: OrderStep; readonly place: Place | undefined }): ReactNode {
  const { step: _, at, ...details } = step
  const took = tookOf(step)
  return (
    <li>
      <div className="step-head">
        <span>
          <strong>{titleOf(step)}</strong> <Status status={outcomeOf(step)} nullMeans="" />
        </span>
        <span>
          <Time at={at} nullMeans="time not recorded" />
          {place?.offset != null && place.sincePrevious !== null && <span className="offset">{place.offset}</span>}
          {place?.sincePrevious != null && <span className="hint"> ({place.sincePrevious} after the recorded time before it)</span>}
          {took !== null && <span className="hint"> took {tookText(took)}</span>}
        </span>
      </div>
      <Bar place={place} />
      <dl className="evidence">
        {Object.entries(details).map(([key, value]) => (
          <div key={key}>
            <dt>{key}</dt>
            <dd>
              <Value value={value} nullMeans={nullOf(step, key)} />
            </dd>
          </div>
        ))}
      </dl>
    </li>
  )
}

function tookOf({ took_ms: took }: OrderStep): number | null {
  return typeof took === 'number' ? took : null
}

const WIDTH = 1000
const INSTANT = 6

/** For the eye only: the texts beside it say the same. */
function Bar({ place }: { readonly place: Place | undefined }): ReactNode {
  const start = place?.start ?? null
  if (start === null) return <div className="bar-missing" />
  const length = Math.max(((place?.end ?? start) - start) * WIDTH, INSTANT)
  return (
    <svg className="time-bar" viewBox={`0 0 ${WIDTH} 10`} preserveAspectRatio="none" aria-hidden="true">
      <rect className="track" x="0" y="4" width={WIDTH} height="2" />
      {place?.from != null && (
        <rect className="lead" x={Math.min(place.from, start) * WIDTH} y="3" width={Math.abs(start - place.from) * WIDTH} height="4" />
      )}
      <rect className="mark" x={Math.min(start * WIDTH, WIDTH - INSTANT)} y="0" width={length} height="10" rx="2" />
    </svg>
  )
}
