"""Other versions' wordings, other numbers, other ranks: the kind is recognised, not one text."""

import pytest
from unit.diagnose.logs import evidence, trace

from surefit.diagnose import diagnose

OOM_1X = (
    "torch.cuda.OutOfMemoryError: CUDA out of memory. Tried to allocate 86.00 MiB (GPU 3; 23.69 "
    "GiB total "
    "capacity; 21.90 GiB already allocated; 60.19 MiB free; 22.44 GiB reserved in total by "
    "PyTorch) If "
    "reserved memory is >> allocated memory try setting max_split_size_mb to avoid fragmentation."
)
FRAGMENTS_1X = OOM_1X.replace("21.90 GiB already", "14.90 GiB already")
LOAD = "transformers/modeling_utils.py:from_pretrained"
TRAIN = "transformers/trainer.py:_inner_training_loop"
STEP = "transformers/trainer.py:training_step"
EVAL = ("transformers/trainer.py:evaluate", "transformers/trainer.py:prediction_step")
DATA = "datasets/arrow_dataset.py:_map_single"
HUB = "huggingface_hub/utils/_http.py:hf_raise_for_status"

WORDINGS: list[tuple[str, str, tuple[str, ...]]] = [
    ("GPU_OOM_LOAD", OOM_1X, (LOAD,)),
    ("GPU_OOM_LOAD", "RuntimeError: CUDA error: out of memory", ("accelerate/big_modeling.py:loa"
                                                                 "d_checkpoint_and_dispatch", LOAD)),
    ("GPU_OOM_LOAD", OOM_1X, ("torch/nn/modules/module.py:to", LOAD)),
    ("GPU_OOM_STEP", OOM_1X, (TRAIN, STEP)),
    ("GPU_OOM_STEP", "torch.OutOfMemoryError: HIP out of memory. Tried to allocate 2.00 GiB. "
                     "GPU 1 has a total capacity of 63.98 GiB of which 1.20 GiB is free. Of the "
                     "allocated memory 61.00 GiB is allocated by PyTorch, and 210.00 MiB is "
                     "reserved by PyTorch but unallocated.", (TRAIN, STEP, "torch/_tensor.py:backward")),
    ("GPU_OOM_STEP", "RuntimeError: MPS backend out of memory (MPS allocated: 17.2 GB, other "
                     "allocations: 400 MB, max allowed: 18.13 GB). Tried to allocate 1.2 GB on "
                     "private pool.", (TRAIN, STEP)),
    ("GPU_OOM_STEP", "RuntimeError: CUDA error: CUBLAS_STATUS_ALLOC_FAILED when calling "
                     "`cublasCreate(handle)`", (TRAIN, STEP)),
    ("GPU_OOM_STEP", "RuntimeError: No executable batch size found, reached zero.", ("accelerate/utils/memory.py:decorator",)),
    ("GPU_OOM_STEP", OOM_1X, (TRAIN, "torch/optim/adamw.py:step")),
    ("GPU_OOM_FRAGMENT", FRAGMENTS_1X, (TRAIN, STEP)),
    ("GPU_OOM_EVAL", OOM_1X, (TRAIN, *EVAL)),
    ("GPU_OOM_EVAL", OOM_1X, (TRAIN, "transformers/trainer.py:evaluation_loop", "transformers/trainer_pt_utils.py:nested_concat")),
    ("GPU_OOM_SAVE", OOM_1X, ("transformers/trainer.py:save_model", "accelerate/accelerator.py:get_state_dict")),
    ("GPU_OOM_SAVE", OOM_1X, ("/srv/export.py:export", "peft/tuners/lora/model.py:merge_and_unlo"
                                                       "ad")),
    ("QUANT_PLACEMENT", "ValueError: You can't train a model that has been loaded in 8-bit or "
                        "4-bit precision on multiple devices in any distributed mode.", ("accelerate/accelerator.py:prepare_model",)),
    ("QUANT_PLACEMENT", "ValueError: You can't train a model that has been loaded in 8-bit or "
                        "4-bit precision with CPU or disk offload.", ("accelerate/accelerator.py:prepare_model",)),
    ("QUANT_PLACEMENT", "ValueError: \n                    Some modules are dispatched on the "
                        "CPU or the disk. Make sure you have enough GPU RAM to "
                        "fit\n                    the quantized model.", (LOAD,)),
    ("NO_ADAPTER", "ValueError: The model you are trying to fine-tune is quantized with 4-bit "
                   "precision; it is not possible to fine-tune a 4-bit model without an adapter", (TRAIN,)),
    ("NO_ADAPTER", "ValueError: You cannot fine-tune purely quantized models. Please attach "
                   "trainable adapters on top of the quantized model", (TRAIN,)),
    ("LORA_TARGETS", "ValueError: Target modules {'q_proj', 'v_proj'} not found in the base "
                     "model. Please check the target modules and try again.", ("peft/tuners/tuners_utils.py:inject_adapter",)),
    ("LORA_TARGETS", "ValueError: Target module Embedding(32000, 4096) is not supported. "
                     "Currently, only the following modules are supported: `torch.nn.Linear`.", ("peft/tuners/lora/model.py:_create_new_module",)),
    ("LORA_TARGETS", "ValueError: Please specify `target_modules` in `peft_config`", ("peft/tuners/lora/model.py:_prepare_adapter_config",)),
    ("LORA_TARGETS", "ValueError: No modules were targeted for adaptation. This might be caused "
                     "by a combination of mismatched target modules and excluded modules.", ("peft/tuners/tuners_utils.py:inject_adapter",)),
    ("LAUNCHER", "ValueError: SFTTrainer does not support `nn.DataParallel`, which `Trainer` "
                 "uses when several GPUs are visible to a single process.", ("trl/trainer/sft_trainer.py:__init__",)),
    ("LAUNCHER", "RuntimeError: CUDA error: invalid device ordinal\nCUDA kernel errors might be "
                 "asynchronously reported at some other API call", ("torch/cuda/__init__.py:set_device",)),
    ("LAUNCHER", "torch.distributed.DistBackendError: NCCL error in: ProcessGroupNCCL.cpp:1333, "
                 "invalid usage, NCCL version 2.21.5\nncclInvalidUsage: This usually reflects "
                 "invalid usage of NCCL library.\nLast error:\nDuplicate GPU detected : rank 1 "
                 "and rank 0 both on CUDA device 4000", ("torch/distributed/c10d.py:barrier",)),
    ("LAUNCHER", "NotImplementedError: Quantization is currently not supported for multi-GPU "
                 "training", ("litgpt/finetune/lora.py:setup",)),
    ("MODEL_UNKNOWN", "ValueError: The checkpoint you are trying to load has model type "
                      "`gemma9` but Transformers does not recognize this architecture.", (LOAD,)),
    ("MODEL_UNKNOWN", "ValueError: Unrecognized configuration class <class "
                      "'transformers.models.siglip.Siglip9Config'> for this kind of AutoModel: "
                      "AutoModelForCausalLM.", (LOAD,)),
    ("MODEL_UNKNOWN", "ValueError: Unrecognized model in acme/x9. Should have a `model_type` "
                      "key in its config.json", (LOAD,)),
    ("API_DRIFT", "TypeError: Trainer.__init__() got an unexpected keyword argument 'tokenizer'", ("trl/trainer/sft_trainer.py:__init__",)),
    ("API_DRIFT", "ImportError: cannot import name 'is_torch_npu_available' from "
                  "'transformers.utils' (/v/lib/x.py)", ()),
    ("API_DRIFT", "AttributeError: module 'transformers' has no attribute 'HybridCache'", ("peft/utils/other.py:<module>",)),
    ("API_DRIFT", "Exception: data did not match any variant of untagged enum ModelWrapper at "
                  "line 757479 column 3", ("transformers/tokenization_utils_fast.py:__init__",)),
    ("API_DRIFT", "ValueError: numpy.dtype size changed, may indicate binary incompatibility. "
                  "Expected 96 from C header, got 88 from PyObject", ("pandas/__init__.py:<module>",)),
    ("API_DRIFT", "RuntimeError: operator torchvision::nms does not exist", ("torch/library.py:register",)),
    ("API_DRIFT", "ImportError: huggingface-hub>=0.34.0,<1.0 is required for a normal "
                  "functioning of this module, but found huggingface-hub==1.2.0.", ("transformers/utils/versions.py:_compare_versions",)),
    ("API_DRIFT", "AttributeError: 'DynamicCache' object has no attribute 'get_max_length'", ("transformers/generation/utils.py:generate",)),
    ("IMPORT", "ModuleNotFoundError: No module named 'trl'", ()),
    ("IMPORT", "ImportError: Using `load_in_8bit=True` requires Accelerate: `pip install "
               "accelerate`", (LOAD,)),
    ("IMPORT", "ImportError: \n LlamaTokenizer requires the SentencePiece library but it was "
               "not found in your environment. Checkout the instructions on the", ("transformers/utils/import_utils.py:requires_backends",)),
    ("IMPORT", "ImportError: libGL.so.1: cannot open shared object file: No such file or "
               "directory", ("cv2/__init__.py:<module>",)),
    ("REMOTE_CODE", "ValueError: Loading acme/odd-3b requires you to execute the configuration "
                    "file in that repo on your local machine. Make sure you have read the code "
                    "there to avoid malicious use, then set the option `trust_remote_code=True` "
                    "to remove this error.", (LOAD,)),
    ("PICKLE_BLOCKED", "ValueError: Due to a serious vulnerability issue in `torch.load`, even "
                       "with `weights_only=True`, we now require users to upgrade torch to at "
                       "least v2.6 in order to use the function.", (LOAD,)),
    ("PICKLE_BLOCKED", "_pickle.UnpicklingError: Weights only load failed. This file can still "
                       "be loaded, to do so you have two options\nWeightsUnpickler error: "
                       "Unsupported global: GLOBAL numpy.core.multiarray._reconstruct was not "
                       "an allowed global by default.", ("transformers/trainer.py:_load_rng_state",)),
    ("FILE_CORRUPT", "safetensors_rust.SafetensorError: Error while deserializing header: "
                     "HeaderTooLarge", (LOAD,)),
    ("FILE_CORRUPT", "safetensors_rust.SafetensorError: Error while deserializing header: "
                     "MetadataIncompleteBuffer", (LOAD,)),
    ("FILE_CORRUPT", "RuntimeError: PytorchStreamReader failed reading zip archive: failed "
                     "finding central directory", ("torch/serialization.py:load",)),
    ("FILE_CORRUPT", "OSError: It looks like the config file at 'acme/x/config.json' is not a "
                     "valid JSON file.", ("transformers/configuration_utils.py:_get_config_dict",)),
    ("FILE_CORRUPT", "_pickle.UnpicklingError: invalid load key, 'v'.", ("torch/serialization.py:_legacy_load",)),
    ("FILE_CORRUPT", "Exception: EOF while parsing a string at line 1204 column 33", ("transformers/tokenization_utils_fast.py:__init__",)),
    ("FILE_MISSING", "OSError: /models/base does not appear to have a file named config.json. "
                     "Checkout 'https://huggingface.co//models/base/tree/main' for available "
                     "files.", (LOAD,)),
    ("FILE_MISSING", "FileNotFoundError: [Errno 2] No such file or directory: "
                     "'/data/sft/train.jsonl'", ("/srv/train.py:read",)),
    ("FILE_MISSING", "FileNotFoundError: Couldn't find any data file at /data/none.", ("datasets/load.py:dataset_module_factory",)),
    ("FILE_MISSING", "ValueError: Can't find 'adapter_config.json' at '/models/lora-7'", ("peft/config.py:_get_peft_type",)),
    ("FILE_MISSING", "OSError: Error no file named pytorch_model.bin, model.safetensors, "
                     "tf_model.h5, model.ckpt.index or flax_model.msgpack found in directory "
                     "/models/empty.", (LOAD,)),
    ("SIZE_MISMATCH", "RuntimeError: Error(s) in loading state_dict for "
                      "LlamaForCausalLM:\n\tsize mismatch for model.embed_tokens.weight: "
                      "copying a param with shape torch.Size([151666, 896]) from checkpoint, "
                      "the shape in current model is torch.Size([151936, 896]).", (LOAD,)),
    ("SIZE_MISMATCH", 'ValueError: Trying to set a tensor of shape torch.Size([128, 64]) in '
                      '"weight" (which has shape torch.Size([64, 64])), this looks incorrect.', ("accelerate/utils/modeling.py:set_module_tensor_to_device",)),
    ("RESUME_BAD", "ValueError: No valid checkpoint found in output directory (/data/out)", (TRAIN,)),
    ("RESUME_BAD", "ValueError: Can't find a valid checkpoint at out/checkpoint-1200", (TRAIN, "transformers/trainer.py:_load_from_checkpoint")),
    ("RESUME_BAD", "ValueError: loaded state dict contains a parameter group that doesn't match "
                   "the size of optimizer's group", (TRAIN, "torch/optim/optimizer.py:load_state"
                                                            "_dict")),
    ("RESUME_BAD", "FileNotFoundError: [Errno 2] No such file or directory: "
                   "'out/checkpoint-400/global_step400/zero_pp_rank_4_mp_rank_00_optim_states.pt"
                   "'", ("deepspeed/runtime/engine.py:load_checkpoint",)),
    ("RESUME_BAD", "FileNotFoundError: [Errno 2] No such file or directory: "
                   "'/out/checkpoint-90/optimizer.pt'", (TRAIN,)),
    ("GATED", "huggingface_hub.utils._errors.GatedRepoError: 403 Client Error. (Request ID: "
              "Root=1-6)\n\nCannot access gated repo for url https://huggingface.co/acme/big-8b/"
              "resolve/main/config.json.\nYour request to access model acme/big-8b is awaiting "
              "a review from the repo authors.", (HUB,)),
    ("GATED", "OSError: You are trying to access a gated repo.\nMake sure to have access to it "
              "at https://huggingface.co/acme/big-8b.\n401 Client Error. (Request ID: Root=1-6)", ("transformers/utils/hub.py:cached_file",)),
    ("GATED", "datasets.exceptions.DatasetNotFoundError: Dataset 'acme/chats' is a gated "
              "dataset on the Hub. Visit the dataset page at https://huggingface.co/datasets/acm"
              "e/chats to ask for access.", ("datasets/load.py:dataset_module_factory",)),
    ("NOT_FOUND_OR_PRIVATE", "huggingface_hub.errors.RepositoryNotFoundError: 404 Client Error. "
                             "(Request ID: Root=1-6)\n\nRepository Not Found for url: "
                             "https://huggingface.co/api/models/acme/nope.", (HUB,)),
    ("NOT_FOUND_OR_PRIVATE", "OSError: acme/nope is not a local folder and is not a valid model "
                             "identifier listed on 'https://huggingface.co/models'", (LOAD,)),
    ("NOT_FOUND_OR_PRIVATE", "datasets.exceptions.DatasetNotFoundError: Dataset 'acme/nope' "
                             "doesn't exist on the Hub or cannot be accessed.", ("datasets/load.py:load_dataset",)),
    ("TOKEN_BAD", "huggingface_hub.errors.HfHubHTTPError: 401 Client Error: Unauthorized for "
                  "url: https://huggingface.co/api/whoami-v2\nInvalid user token.", ("huggingface_hub/hf_api.py:whoami",)),
    ("TOKEN_BAD", "requests.exceptions.HTTPError: Invalid user token. If you didn't pass a user "
                  "token, make sure you are properly logged in by executing `huggingface-cli "
                  "login`", ("huggingface_hub/hf_api.py:whoami",)),
    ("TOKEN_READONLY", "huggingface_hub.errors.HfHubHTTPError: 403 Client Error: Forbidden for "
                       "url: https://huggingface.co/api/models/me/out/preupload/main\nForbidden:"
                       " you must use a write token to upload to a repository.", ("huggingface_hub/hf_api.py:upload_folder",)),
    ("TOKEN_READONLY", "huggingface_hub.errors.HfHubHTTPError: 403 Forbidden: Forbidden: pass "
                       "`create_pr=1` as a query parameter to create a Pull Request.\nCannot "
                       "access content at: https://huggingface.co/api/models/acme/x/commit/main.", ("huggingface_hub/hf_api.py:create_commit",)),
    ("RATE_LIMIT", "huggingface_hub.errors.HfHubHTTPError: 429 Client Error: Too Many Requests "
                   "for url: https://huggingface.co/api/models/acme/x/tree/main", (HUB,)),
    ("HUB_DOWN", "huggingface_hub.errors.HfHubHTTPError: 504 Server Error: Gateway Time-out for "
                 "url: https://huggingface.co/api/models/acme/x", (HUB,)),
    ("HUB_DOWN", "requests.exceptions.ConnectionError: (MaxRetryError('HTTPSConnectionPool(host="
                 "'huggingface.co', port=443): Max retries exceeded with url: "
                 "/acme/x/resolve/main/config.json (Caused by NameResolutionError: Failed to "
                 "resolve'))", ("requests/adapters.py:send",)),
    ("HUB_DOWN", "ConnectionError: Couldn't reach 'acme/chats' on the Hub "
                 "(LocalEntryNotFoundError)", ("datasets/load.py:dataset_module_factory",)),
    ("HUB_DOWN", "OSError: Consistency check failed: file should be of size 4976698672 but has "
                 "size 1310720000 (model-00001-of-00004.safetensors).", ("huggingface_hub/file_download.py:http_get",)),
    ("HUB_DOWN", "RuntimeError: Data processing error: CAS service error : Reqwest Error: HTTP "
                 "status server error (500 Internal Server Error), domain: "
                 "https://cas-server.xethub.hf.co", ("huggingface_hub/file_download.py:xet_get",)),
    ("HUB_DOWN", "httpx.ConnectTimeout: timed out", ("huggingface_hub/utils/_http.py:http_backoff",)),
    ("CHAT_TEMPLATE", "ValueError: Cannot use apply_chat_template() because "
                      "tokenizer.chat_template is not set and no template argument was passed!", (DATA,)),
    ("CHAT_TEMPLATE", "jinja2.exceptions.TemplateError: System role not supported", (DATA,)),
    ("CHAT_TEMPLATE", "jinja2.exceptions.TemplateError: After the optional system message, "
                      "conversation roles must alternate user/assistant/user/assistant/...", (DATA,)),
    ("PAD_TOKEN", "ValueError: Asking to pad but the tokenizer does not have a padding token. "
                  "Please select a token to use as `pad_token`", (DATA,)),
    ("PAD_TOKEN", "ValueError: Cannot handle batch sizes > 1 if no padding token is defined.", (TRAIN, STEP)),
    ("LOSS_MASK_KIND", "ValueError: The `completion_only_loss` argument is not supported for "
                       "language modeling datasets.", ("trl/trainer/sft_trainer.py:__init__",)),
    ("LOSS_MASK_KIND", "RuntimeError: You're using `assistant_only_loss=True`, but at least one "
                       "example has no assistant tokens.", (DATA,)),
    ("ALL_MASKED", "ZeroDivisionError: Unsloth: All labels in your dataset are -100. Training "
                   "losses will be all 0.", ("unsloth/trainer.py:train",)),
    ("ALL_MASKED", r"RuntimeError: Unsloth: train_on_responses_only masked every label to -100 "
                   r"in train_dataset, so there is nothing to train on. The response marker '<|"
                   r"turn>model\n' was not found in any sample", ("unsloth/chat_templates.py:train_on_responses_only",)),
    ("NO_COLUMNS", "KeyError: 'messages'", ("trl/trainer/sft_trainer.py:_prepare_dataset", DATA, "datasets/formatting/formatting.py:__getitem__")),
    ("NO_COLUMNS", "ValueError: Column name ['text'] not in the dataset. Current columns in the "
                   "dataset: ['question', 'answer']", ("datasets/arrow_dataset.py:remove_columns",)),
    ("NO_COLUMNS", "KeyError: 'instruction'", ("llamafactory/data/converter.py:__call__",)),
    ("NO_COLUMNS", "jinja2.exceptions.UndefinedError: 'dict object' has no attribute 'content'", (DATA, "transformers/utils/chat_template_utils.py:render_jinja_templ"
                                                                                                        "ate")),
    ("DATASET_PARSE", "datasets.exceptions.DatasetGenerationCastError: An error occurred while "
                      "generating the dataset\n\nAll the data files must have the same columns, "
                      "but at some point there are 1 new columns ({'score'})", ("datasets/builder.py:_prepare_split_single",)),
    ("DATASET_PARSE", "pyarrow.lib.ArrowInvalid: JSON parse error: Column(/messages/[]/content) "
                      "changed from string to array in row 5", ("datasets/packaged_modules/json/"
                                                                "json.py:_generate_tables",)),
    ("DATASET_PARSE", "TypeError: Couldn't cast array of type struct<role: string> to {'role': "
                      "Value('string')}", ("datasets/table.py:array_cast",)),
    ("DATASET_PARSE", "json.decoder.JSONDecodeError: Expecting ',' delimiter: line 1 column 214 "
                      "(char 213)", ("/srv/train.py:load_rows",)),
    ("DATASET_PARSE", "UnicodeDecodeError: 'utf-8' codec can't decode byte 0xe9 in position "
                      "7012: invalid continuation byte", ("datasets/packaged_modules/json/json.p"
                                                          "y:_generate_tables",)),
    ("NO_SAMPLES", "ValueError: Cannot find valid samples, check `data/README.md` for the data "
                   "format.", ("llamafactory/data/loader.py:get_dataset",)),
    ("NO_SAMPLES", 'ValueError: Instruction "train" corresponds to no data!', ("datasets/arrow_reader.py:read",)),
    ("NO_SAMPLES", "ValueError: num_samples should be a positive integer value, but got "
                   "num_samples=0", (TRAIN, "torch/utils/data/sampler.py:__init__")),
    ("CONFIG", "ValueError: At most one of fp16 and bf16 can be True, but not both", ("transformers/training_args.py:__post_init__",)),
    ("CONFIG", "ValueError: linear_decay is not a valid SchedulerType, please select one of "
               "['linear', 'cosine']", ("transformers/training_args.py:__post_init__",)),
    ("CONFIG", "pydantic_core._pydantic_core.ValidationError: 1 validation error for "
               "AxolotlInputConfig\nmicro_batch_size\n  Input should be a valid integer", ("axolotl/cli/config.py:load_cfg",)),
    ("CONFIG", "AssertionError: Check batch related parameters. train_batch_size is not equal "
               "to micro_batch_per_gpu * gradient_acc_step * world_size 16 != 2 * 1 * 4", ("deepspeed/runtime/config.py:_batch_assertion",)),
    ("CONFIG", "yaml.scanner.ScannerError: mapping values are not allowed here\n  in "
               "\"config.yaml\", line 4, column 12", ("yaml/scanner.py:fetch_value",)),
    ("CONFIG", "ValueError: Some keys are not used by the HfArgumentParser: ['lora_rnk']", ("transformers/hf_argparser.py:parse_dict",)),
    ("NAN", "RuntimeError: probability tensor contains either `inf`, `nan` or element < 0", (TRAIN, "transformers/generation/utils.py:_sample")),
    ("NAN", "Exception: Current loss scale already at minimum - cannot decrease scale anymore. "
            "Exiting run.", ("deepspeed/runtime/fp16/loss_scaler.py:update_scale",)),
    ("NAN", "RuntimeError: Function 'MulBackward0' returned nan values in its 0th output.", (TRAIN, STEP)),
    ("PRECISION", "ValueError: Your setup doesn't support bf16/gpu. You need torch>=1.10, using "
                  "Ampere GPU with cuda>=11.0", ("transformers/training_args.py:__post_init__",)),
    ("PRECISION", "RuntimeError: expected mat1 and mat2 to have the same dtype, but got: float "
                  "!= c10::BFloat16", (TRAIN, STEP, "torch/nn/modules/linear.py:forward")),
    ("PRECISION", "RuntimeError: \"addmm_impl_cpu_\" not implemented for 'Half'", (TRAIN, STEP)),
    ("PRECISION", "ValueError: Must flatten tensors with uniform dtype but got torch.bfloat16 "
                  "and torch.float16", ("torch/distributed/fsdp/_flat_param.py:_validate",)),
    ("NO_GRAD", "RuntimeError: element 0 of tensors does not require grad and does not have a "
                "grad_fn", (TRAIN, STEP)),
    ("NO_GRAD", "ValueError: optimizer got an empty parameter list", (TRAIN, "torch/optim/adamw.py:__init__")),
    ("DDP_GRAPH", "RuntimeError: Expected to mark a variable ready only once. This error is "
                  "caused by one of the following reasons", (TRAIN, STEP)),
    ("INDEX_ASSERT", "RuntimeError: CUDA error: device-side assert triggered", (TRAIN, STEP, "torch/nn/functional.py:embedding")),
    ("INDEX_ASSERT", "IndexError: index out of range in self", (TRAIN, STEP, "torch/nn/functional.py:embedding")),
    ("INDEX_ASSERT", "IndexError: Target 152064 is out of bounds.", (TRAIN, STEP, "torch/nn/functional.py:cross_entropy")),
    ("ARCH_KERNEL", "RuntimeError: CUDA error: no kernel image is available for execution on "
                    "the device", (TRAIN, STEP)),
    ("NO_CUDA", "RuntimeError: Found no NVIDIA driver on your system. Please check that you "
                "have an NVIDIA GPU", ("torch/cuda/__init__.py:_lazy_init",)),
    ("NO_CUDA", "RuntimeError: No CUDA GPUs are available", ("torch/cuda/__init__.py:_lazy_init",)),
    ("NO_CUDA", "RuntimeError: Unexpected error from cudaGetDeviceCount(). Error 804: forward "
                "compatibility was attempted on non supported HW", ("torch/cuda/__init__.py:_lazy_init",)),
    ("KERNEL_LIB", "RuntimeError: FlashAttention only supports Ampere GPUs or newer.", (TRAIN, STEP, "flash_attn/flash_attn_interface.py:_flash_attn_forward")),
    ("KERNEL_LIB", "ImportError: /v/lib/python3.11/site-packages/flash_attn_2_cuda.cpython-311-x"
                   "86_64-linux-gnu.so: undefined symbol: _ZN3c104cuda9SetDeviceEab", ("flash_attn/__init__.py:<module>",)),
    ("KERNEL_LIB", "ImportError: Using `bitsandbytes` 4-bit quantization requires bitsandbytes: "
                   "`pip install -U bitsandbytes>=0.46.1`", (LOAD,)),
    ("KERNEL_LIB", "ModuleNotFoundError: No module named 'bitsandbytes'", ()),
    ("KERNEL_LIB", "RuntimeError: Could not find nvcc and default cuda_home='/usr/local/cuda' "
                   "doesn't exist", ("deepspeed/ops/op_builder/builder.py:load",)),
    ("KERNEL_LIB", "RuntimeError: CUDA Setup failed despite GPU being available. Please run the "
                   "following command to get more information:\n\npython -m bitsandbytes", ("bitsandbytes/cuda_setup/main.py:run",)),
    ("ILLEGAL_ACCESS", "RuntimeError: CUDA error: an illegal memory access was encountered", (TRAIN, STEP)),
    ("HARDWARE", "RuntimeError: CUDA error: unspecified launch failure", (TRAIN, STEP)),
    ("HARDWARE", "RuntimeError: CUDA error: uncorrectable NVLink error detected during the "
                 "execution", (TRAIN, STEP)),
    ("HOST_OOM", "RuntimeError: [enforce fail at alloc_cpu.cpp:117] err == 0. "
                 "DefaultCPUAllocator: can't allocate memory: you tried to allocate 34359738368 "
                 "bytes. Error code 12 (Cannot allocate memory)", (LOAD,)),
    ("HOST_OOM", "numpy._core._exceptions._ArrayMemoryError: Unable to allocate 42.1 GiB for an "
                 "array with shape (5652480000,) and data type float64", ("/srv/train.py:load",)),
    ("HOST_OOM", "MemoryError", ("/srv/train.py:load",)),
    ("HOST_OOM", "OSError: [Errno 12] Cannot allocate memory", ("multiprocessing/popen_fork.py:_"
                                                                "launch",)),
    ("SHM", "RuntimeError: DataLoader worker (pid 881) is killed by signal: Bus error. It is "
            "possible that dataloader's workers are out of shared memory. Please try to raise "
            "your shared memory limit.", (TRAIN,)),
    ("SHM", "RuntimeError: unable to write to file </torch_812_44_0>: No space left on device "
            "(28)\nERROR: Unexpected bus error encountered in worker. This might be caused by "
            "insufficient shared memory (shm).", (TRAIN,)),
    ("SHM", "torch.distributed.DistBackendError: NCCL error in: NCCLUtils.hpp:275, unhandled "
            "system error, NCCL version 2.19.3\nncclSystemError: System call (e.g. socket, "
            "malloc) or external library call failed or device error.\nLast error:\nError while "
            "creating shared memory segment /dev/shm/nccl-EkZjdo (size 9637888)", ("torch/distributed/c10d.py:barrier",)),
    ("WORKER_DIED", "RuntimeError: DataLoader worker (pid(s) 4411, 4412) exited unexpectedly", (TRAIN,)),
    ("WORKER_DIED", "RuntimeError: One of the subprocesses has abruptly died during map "
                    "operation.To debug the error, disable multiprocessing.", (DATA,)),
    ("WORKER_DIED", "concurrent.futures.process.BrokenProcessPool: A process in the process "
                    "pool was terminated abruptly while the future was running or pending.", (DATA,)),
    ("FD_LIMIT", "OSError: [Errno 24] Too many open files: '/data/x.arrow'", (DATA,)),
    ("DISK_FULL", "OSError: [Errno 28] No space left on device: '/data/cache/x.arrow'", (DATA,)),
    ("DISK_FULL", "RuntimeError: [enforce fail at inline_container.cc:862] . "
                  "PytorchStreamWriter failed writing file data/12: file write failed", ("torch/serialization.py:save",)),
    ("DISK_FULL", "RuntimeError: Data processing error: I/O error: No space left on device (os "
                  "error 28)", ("huggingface_hub/file_download.py:xet_get",)),
    ("QUOTA_DISK", "OSError: [Errno 122] Disk quota exceeded", ("torch/serialization.py:save",)),
    ("QUOTA_DISK", "safetensors_rust.SafetensorError: Error while serializing: IoError(Os { "
                   "code: 122, kind: FilesystemQuotaExceeded, message: \"Disk quota exceeded\" "
                   "})", ("transformers/trainer.py:_save",)),
    ("PERMISSION", "PermissionError: [Errno 13] Permission denied: '/out/run1'", ("/srv/train.py:main",)),
    ("NCCL_SYSTEM", "torch.distributed.DistBackendError: NCCL error in: NCCLUtils.cpp:93, "
                    "unhandled cuda error (run with NCCL_DEBUG=INFO for details), NCCL version "
                    "2.27.5\nncclUnhandledCudaError: Call to CUDA function failed.\nLast "
                    "error:\nCuda failure 'initialization error'", ("torch/distributed/c10d.py:barrier",)),
    ("NCCL_SYSTEM", "torch.distributed.DistBackendError: NCCL error in: NCCLUtils.cpp:93, "
                    "internal error\nncclInternalError: Internal check failed.\nLast "
                    "error:\nBootstrap : no socket interface found", ("torch/distributed/c10d.py:barrier",)),
    ("RENDEZVOUS", "torch.distributed.elastic.rendezvous.api.RendezvousTimeoutError", ("torch/distributed/elastic/rendezvous/dynamic_rendezvous.py:n"
                                                                                       "ext_rendezvous",)),
    ("RENDEZVOUS", "torch.distributed.DistStoreError: Timed out after 901 seconds waiting for "
                   "clients. 1/2 clients joined.", ("torch/distributed/rendezvous.py:_create_c10"
                                                    "d_store",)),
    ("RENDEZVOUS", "RuntimeError: The server socket has failed to listen on any local network "
                   "address. The server socket has failed to bind to [::]:29500 (errno: 98 - "
                   "Address already in use).", ("torch/distributed/rendezvous.py:_create_c10d_st"
                                                "ore",)),
    ("COLLECTIVE_TIMEOUT", "RuntimeError: [/pytorch/third_party/gloo/gloo/transport/tcp/unbound_"
                           "buffer.cc:81] Timed out waiting 1800000ms for recv operation to "
                           "complete", (TRAIN, STEP)),
    ("PEER_LOST", "RuntimeError: [/pytorch/third_party/gloo/gloo/transport/tcp/pair.cc:589] "
                  "Connection closed by peer [10.0.0.7]:33121", (TRAIN, STEP)),
    ("PEER_LOST", "torch.distributed.DistBackendError: NCCL error in: "
                  "ProcessGroupNCCL.cpp:1970, remote process exited or there was a network "
                  "error, NCCL version 2.18.1\nncclRemoteError: A call failed possibly due to a "
                  "network error or a remote process exiting prematurely.", (TRAIN, STEP)),
    ("PERMISSION", "OSError: [Errno 30] Read-only file system: '/results'", ("/srv/train.py:main",)),
    ("UNKNOWN", "RuntimeError: shape '[2, 16, 128]' is invalid for input of size 4080", (TRAIN, STEP, "/srv/model.py:forward")),
    ("UNKNOWN", "KeyError: 'reward_weights'", (TRAIN, "transformers/trainer_callback.py:call_eve"
                                                      "nt", "/srv/train.py:on_step_end")),
    ("UNKNOWN", "AssertionError: my own check", (TRAIN, "/srv/train.py:check")),
    ("UNKNOWN", "ZeroDivisionError: division by zero", ("/srv/train.py:average",)),
    ("UNKNOWN", "TypeError: unsupported operand type(s) for +: 'int' and 'NoneType'", ("/srv/train.py:add",)),
    ("UNKNOWN", "AttributeError: 'NoneType' object has no attribute 'shape'", (TRAIN, "/srv/train.py:hook")),
    ("UNKNOWN", "IndexError: list index out of range", ("/srv/train.py:pick",)),
    ("GPU_OOM_STEP", "RuntimeError: Triton Error [CUDA]: out of memory", (TRAIN, STEP)),
    ("GPU_OOM_STEP", "RuntimeError: Caught OutOfMemoryError in pin memory thread for device 0.\nOriginal Traceback (most recent call last):\n  File \"/v/site-packages/torch/x.py\", line 1, in loop\n    x()\ntorch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 MiB.", (TRAIN,)),
    ("NO_COLUMNS", "RuntimeError: Caught KeyError in DataLoader worker process 0.\nOriginal Traceback (most recent call last):\n  File \"/v/site-packages/torch/utils/data/_utils/fetch.py\", line 1, in fetch\n    x()\nKeyError: 'input_ids'", (TRAIN, "torch/utils/data/dataloader.py:__next__")),
    ("ARCH_KERNEL", "RuntimeError: FATAL: kernel `fmha_cutlassF_bf16_aligned_64x128_rf_sm80` is for sm80-sm100, but was built for sm37", (TRAIN, STEP)),
    ("NO_CUDA", "ValueError: ProcessGroupNCCL is only supported with GPUs, no GPUs found!", ("torch/distributed/c10d.py:init_process_group",)),
    ("NO_CUDA", "RuntimeError: Failed to initialize NVML: Driver/library version mismatch", ("torch/cuda/__init__.py:_lazy_init",)),
    ("PRECISION", "ValueError: BF16 Mixed precision training with AMP (`--bf16`) and BF16 half precision evaluation (`--bf16_full_eval`) can only be used on CUDA, XPU or CPU devices.", ("transformers/training_args.py:__post_init__",)),
    ("HOST_OOM", "ray.exceptions.OutOfMemoryError: Task was killed due to the node running low on memory.", ("ray/_private/worker.py:get",)),
    ("HUB_DOWN", "requests.exceptions.SSLError: HTTPSConnectionPool(host='cdn-lfs.huggingface.co', port=443): Max retries exceeded", ("requests/adapters.py:send",)),
    ("HUB_DOWN", "urllib3.exceptions.ProtocolError: ('Connection broken: IncompleteRead(104 bytes read)')", ("urllib3/response.py:read",)),
    ("RENDEZVOUS", "OSError: [Errno 98] Address already in use", ("torch/distributed/rendezvous.py:_create_c10d_store",)),
    ("RENDEZVOUS", "torch.distributed.elastic.rendezvous.api.RendezvousConnectionError: The connection to the C10d store has failed. See inner exception for details.", ("torch/distributed/elastic/rendezvous/c10d_rendezvous_backend.py:_call_store",)),
    ("CONFIG", "ValueError: lora_r must be a positive integer, got -4", ("acme_trainer/config.py:validate",)),
    ("CONFIG", "TypeError: learning_rate should be a float, got str", ("acme_trainer/settings.py:__post_init__",)),
    ("UNKNOWN", "RuntimeError: Expected all tensors to be on the same device, but found at least two devices, cuda:0 and cuda:1!", (TRAIN, STEP, "torch/nn/modules/linear.py:forward")),
    ("UNKNOWN", "ValueError: Expected input batch_size (8) to match target batch_size (4).", (TRAIN, STEP, "torch/nn/functional.py:cross_entropy")),
    ("UNKNOWN", "AssertionError: width must be even", (TRAIN, STEP, "/srv/model.py:forward")),
    ("UNKNOWN", "OSError: [Errno 5] Input/output error", ("/srv/train.py:read",)),
    ("UNKNOWN", "RuntimeError: cuDNN error: CUDNN_STATUS_EXECUTION_FAILED", (TRAIN, STEP)),
]  # fmt: skip


@pytest.mark.parametrize(
    ("expected", "error", "calls"), WORDINGS, ids=lambda v: v[:40] if isinstance(v, str) else ""
)
def test_the_kind_is_recognised_in_another_wording(
    expected: str, error: str, calls: tuple[str, ...]
) -> None:
    diagnosis = diagnose(evidence(trace(error, *calls)))
    assert diagnosis.failure_class == expected
    assert diagnosis.evidence, "a diagnosis shows its evidence"
    assert "{" not in diagnosis.next_step.replace("{{", "").replace('{"": local_rank}', "")


@pytest.mark.parametrize(
    ("expected", "error", "calls"), WORDINGS, ids=lambda v: v[:40] if isinstance(v, str) else ""
)
def test_it_is_recognised_on_one_rank_of_several(
    expected: str, error: str, calls: tuple[str, ...]
) -> None:
    diagnosis = diagnose(evidence(trace(error, *calls, rank=5)))
    assert diagnosis.failure_class == expected
    if expected not in ("COLLECTIVE_TIMEOUT", "PEER_LOST"):
        assert diagnosis.root_rank == 5
