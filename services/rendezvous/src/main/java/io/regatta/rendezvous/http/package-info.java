/**
 * The two key-value protocols over HTTP by which PaddlePaddle's processes find each other. The rendezvous service
 * starts their servers.
 */
package io.regatta.rendezvous.http;
