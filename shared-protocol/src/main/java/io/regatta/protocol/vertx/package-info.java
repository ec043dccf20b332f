/**
 * The binding of {@link io.regatta.core.loop} to Vert.x, Netty and the clocks of the machine, and the only package that
 * uses parts of Vert.x outside its public API. All makers of loops call it.
 */
package io.regatta.protocol.vertx;
