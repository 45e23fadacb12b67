// Whether somebody uses the page. What reads by itself stops otherwise: else a page that was left open would keep its session in use.
import { useEffect, useState } from 'react'

const UNUSED_MS = 15 * 60_000
const LOOK_MS = 15_000
const SIGNS = ['pointermove', 'pointerdown', 'keydown', 'wheel', 'focus'] as const

/** False once the page was not used for a quarter of an hour, until it is used again. */
export function useIsUsed(): boolean {
  const [isUsed, setIsUsed] = useState(true)
  useEffect(() => {
    let last = performance.now()
    const onSign = () => {
      last = performance.now()
      setIsUsed(true)
    }
    const timer = setInterval(() => setIsUsed(performance.now() - last < UNUSED_MS), LOOK_MS)
    for (const sign of SIGNS) addEventListener(sign, onSign, { passive: true })
    return () => {
      clearInterval(timer)
      for (const sign of SIGNS) removeEventListener(sign, onSign)
    }
  }, [])
  return isUsed
}
