// Reading the fields that order bodies have in common.
import { type Decimal, parseDecimal } from '@trunkline/core/domain/decimal'

/** @throws Malformed naming the field. */
export function decimalField(text: string, name: string): Decimal {
  return parseDecimal(text, name)
}

/** Null is the same as absent. @throws Malformed naming the field. */
export function decimalOrNull(text: string | null | undefined, name: string): Decimal | null {
  return text === undefined || text === null ? null : parseDecimal(text, name)
}
