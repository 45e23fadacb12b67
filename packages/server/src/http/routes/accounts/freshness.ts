// Documentation of the headers that reads of records have.
import { FRESHNESS_DOC, FRESHNESS_HEADER } from '../../freshness.ts'

export const FRESHNESS = { [FRESHNESS_HEADER]: FRESHNESS_DOC }
