// The levels of a book as text, as they are written into a form.
import type { SandboxLevel } from './generated/admin.ts'

/** One level as text; empty if there is none. */
export function levelText(price: string | null, quantity: string | null): string {
  return price === null || quantity === null ? '' : `${price} x ${quantity}`
}

/** The levels of one side, as they were written. What is no level is sent as it is: the service names what is wrong with it. */
export function levelsIn(text: string): readonly SandboxLevel[] {
  const levels = text.split(',').map(level => level.trim())
  return levels
    .filter(level => level !== '')
    .map(level => {
      const [price = '', quantity = ''] = level.split(/\s*x\s*/)
      return { price, quantity }
    })
}
