// Documentation of the response header of reads of records.
import { FRESHNESS_DOC, FRESHNESS_HEADER } from '../../freshness.ts'

export const FRESHNESS = { [FRESHNESS_HEADER]: FRESHNESS_DOC }
