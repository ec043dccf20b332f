/**
 * The binding of {@link io.regatta.core.loop} to Vert.x, Netty and the clocks of the machine, and the only package that
 * uses what Vert.x does not offer in its public API. Everybody who makes loops for what he owns calls it.
 */
package io.regatta.protocol.vertx;
