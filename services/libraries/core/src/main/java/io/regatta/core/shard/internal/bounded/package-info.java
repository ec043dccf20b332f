/**
 * The shard's strategy of modes with a staleness bound. The registry of strategies makes it.
 */
package io.regatta.core.shard.internal.bounded;
