import type { Incoming } from '../connection.ts'
import type { Bar, Contract, Depth, Quote, Trade } from './items.ts'

// The service's document describes the updates. What is checked here is what the joining of updates depends on.

export function isBar(update: Incoming): update is Incoming & Bar {
  return hasTime(update) && (update.st === 'c' || update.st === 'o')
}

export function isTrade(update: Incoming): update is Incoming & Trade {
  return hasTime(update) && typeof update.p === 'string'
}

export function isQuote(update: Incoming): update is Incoming & Quote {
  return hasTime(update) && 'bp' in update && 'ap' in update
}

export function isDepth(update: Incoming): update is Incoming & Depth {
  return Array.isArray(update.b) && Array.isArray(update.a)
}

export function isContract(update: Incoming): update is Incoming & Contract {
  return Array.isArray(update.legs) && update.legs.length > 0
}

function hasTime({ ts }: Incoming): boolean {
  return typeof ts === 'string' && /^\d+$/.test(ts)
}
