/** What the broker's status of an order means, together with how much of it is done and whether it is closed. Pure. */

import type { OrderStatus } from '@trunkline/core/domain/vocabulary'

/** How much of an order is done: nothing, a part of it, or every leg whole. */
export type Progress = 'none' | 'part' | 'whole'

/**
 * What a code says. `before`: on its way to the broker. `live`: at the broker, on the order book or not yet. `refused_request`: a cancel or replacement was refused, so the order lives on.
 * `out`: off the order book, for good only once it is closed: the broker takes an order off while it replaces it. `other`: the broker itself has no
 * name for it.
 */
export const CODES = {
  OPN: 'before',
  PLA: 'before',
  DIS: 'before',
  STT: 'before',
  // Taken and not routed yet: it waits for its market to open, its condition or the order before it, or rests. It can be cancelled and changed.
  DON: 'live',
  CND: 'live',
  OSO: 'live',
  SUS: 'live',
  CHG: 'live',
  ACK: 'live',
  STP: 'live',
  FPR: 'live',
  FLL: 'filled',
  BRF: 'filled',
  // An assignment, an exercise, a corrected execution: its effect on positions shows in the positions.
  ASS: 'filled',
  EXE: 'filled',
  COR: 'filled',
  FLP: 'cancelled',
  CAN: 'cancelled',
  BRC: 'cancelled',
  TSC: 'cancelled',
  SCN: 'cancelled',
  DOA: 'cancelled',
  OUT: 'out',
  EXP: 'expired',
  REJ: 'rejected',
  BRO: 'rejected',
  UCN: 'pending_cancel',
  CSN: 'pending_cancel',
  ECN: 'pending_cancel',
  REC: 'pending_cancel',
  RPD: 'pending_replace',
  RSN: 'pending_replace',
  UCH: 'replaced',
  RJC: 'refused_request',
  LAT: 'refused_request',
  RJR: 'refused_request',
  OTHER: 'other'
} as const

export type CodeMeaning = (typeof CODES)[keyof typeof CODES]

/** Orders that live, whatever times they carry. */
export const ALIVE: ReadonlySet<CodeMeaning> = new Set(['before', 'live'])
/** Orders that ended, or may have, without being filled. */
export const ENDED_UNFILLED: ReadonlySet<CodeMeaning> = new Set(['out', 'cancelled', 'expired', 'rejected'])

export interface Reading {
  readonly status: OrderStatus
  /** A cancel or replacement was refused. */
  readonly releases?: true
  /** The code alone does not settle it: the order should be read again before it is believed. */
  readonly isUnresolved?: true
}

export function readingOf(meaning: CodeMeaning, progress: Progress, isClosed: boolean): Reading {
  switch (meaning) {
    case 'before':
      return { status: progress === 'none' ? 'pending' : onBook(progress) }
    case 'live':
      return { status: onBook(progress) }
    case 'refused_request':
      // The list of codes counts a refused change among the cancelled ones; only a closing time makes it one.
      return isClosed ? { status: ended(progress), isUnresolved: true } : { status: onBook(progress), releases: true }
    case 'out':
      return isClosed ? { status: 'cancelled' } : { status: 'pending_cancel', isUnresolved: true }
    case 'other':
      return { status: isClosed ? ended(progress) : onBook(progress), isUnresolved: true }
    case 'replaced':
      // Its id is kept, so it goes on with other terms.
      return { status: isClosed ? 'replaced' : onBook(progress), isUnresolved: true }
    default:
      return { status: meaning }
  }
}

function onBook(progress: Progress): OrderStatus {
  return progress === 'whole' ? 'filled' : progress === 'part' ? 'partially_filled' : 'working'
}

function ended(progress: Progress): OrderStatus {
  return progress === 'whole' ? 'filled' : 'cancelled'
}
