/** The two key-value protocols over HTTP that PaddlePaddle's processes meet by. */
package io.regatta.rendezvous.http;
