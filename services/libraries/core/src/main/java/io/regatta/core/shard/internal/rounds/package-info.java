/**
 * The shard's strategy of modes with rounds. The registry of strategies makes it.
 */
package io.regatta.core.shard.internal.rounds;
