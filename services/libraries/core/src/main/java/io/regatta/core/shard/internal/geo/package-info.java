/**
 * The shard's strategy of modes whose trainers push differences of copies of their own. The registry of strategies
 * makes it.
 */
package io.regatta.core.shard.internal.geo;
