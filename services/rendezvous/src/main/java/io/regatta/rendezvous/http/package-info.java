/**
 * The two key-value protocols over HTTP by which PaddlePaddle's processes find each other. The rendezvous service
 * starts their servers. Part of the public API.
 */
package io.regatta.rendezvous.http;
